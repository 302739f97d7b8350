# A thesis: figures, text, and a viewer.
MAIN = thesis
FIGURES = figures/plot.pdf figures/setup.pdf

$(MAIN).pdf: $(MAIN).tex refs.bib $(FIGURES)
	latexmk -pdf -interaction=nonstopmode $(MAIN)

figures/%.pdf: figures/%.svg
	inkscape --export-filename=$@ $<

view: $(MAIN).pdf
	xdg-open $(MAIN).pdf &

wordcount:
	texcount -inc -sum $(MAIN).tex | tail -n 3

.PHONY: view wordcount clean
.SUFFIXES:

clean:
	latexmk -C
	rm -f $(FIGURES)
