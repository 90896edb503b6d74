// To the Hub, to sign in. A form there loses the fragment, and the page comes back as a new entry: gpuplan.js takes both up again.
try {
  sessionStorage.setItem("gpuplan:left", JSON.stringify({ mark: history.state?.gpuplan, address: location.hash }));
} catch { /* a browser may have no storage */ }
location.replace(document.getElementById("gpuplan-leave").href);
