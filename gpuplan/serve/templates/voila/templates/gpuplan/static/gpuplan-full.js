// Tries again. Not by a refresh in the page's head, which a browser takes for a jump within the page if the address has a fragment.
document.getElementById("loading")?.remove();  // of a page that was already on its way
setTimeout(() => location.reload(), 1000 * Number(document.body.dataset.again));
