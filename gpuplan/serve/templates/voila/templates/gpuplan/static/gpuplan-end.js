// Runs when the last cell has arrived, before Voila's own script.
window.voila_finish();
window.gpuplan.watch();
