params.reads = 'reads.csv'
process FASTQC {
  tag "$id"
  errorStrategy 'ignore'
  input: tuple val(id), path(reads)
  output: path "${id}.html"
  script: "fastqc $reads"
}
process ALIGN {
  tag "$id"
  maxRetries 2
  errorStrategy 'retry'
  input: tuple val(id), path(reads)
  output: path "${id}.bam"
  script: "align $reads > ${id}.bam"
}
process REPORT {
  input: path files
  script: "multiqc $files"
}
workflow {
  rows = Channel.fromPath(params.reads).splitCsv(header: true).map { [it.id, file(it.reads)] }
  FASTQC(rows)
  ALIGN(rows)
  REPORT(FASTQC.out.mix(ALIGN.out).collect())
}
