// A card in JupyterLab's launcher, in the form in which Lab loads a built extension: a container of shared modules.
(() => {
  const here = document.currentScript.src.replace(/[^/]*$/, "");
  const NAME = "New design";
  let shared;

  async function open(app, folder) {
    const { commands, serviceManager } = app;
    const files = (await serviceManager.contents.get(folder)).content.map((file) => file.name);
    let name = `${NAME}.ipynb`;
    for (let number = 2; files.includes(name); number++) name = `${NAME} ${number}.ipynb`;
    const path = folder ? `${folder}/${name}` : name;
    const content = await (await fetch(`${here}new_design.ipynb`)).json();
    await serviceManager.contents.save(path, { type: "notebook", format: "json", content });
    return commands.execute("docmanager:open", { path });
  }

  const plugin = (ILauncher) => ({
    id: "gpuplan:launcher",
    description: "A card that opens a new GPU design",
    autoStart: true,
    requires: [ILauncher],
    activate(app, launcher) {
      const command = "gpuplan:new-design";
      app.commands.addCommand(command, {
        label: "GPU design",
        caption: "A new notebook that plans a cluster of shared GPUs",
        execute: ({ cwd }) => open(app, cwd ?? ""),
      });
      launcher.add({ command, category: "Notebook", rank: 1, kernelIconUrl: `${here}logo.svg` });
    },
  });

  (window._JUPYTERLAB ??= {}).gpuplan = {
    init(modules) {
      shared = modules;
    },
    async get() {
      const [launcher] = Object.values(shared["@jupyterlab/launcher"]);
      const { ILauncher } = (await launcher.get())();
      return () => ({ __esModule: true, default: plugin(ILauncher) });
    },
  };
})();
