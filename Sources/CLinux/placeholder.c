int flowrun_placeholder;
