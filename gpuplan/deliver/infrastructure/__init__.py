"""Infrastructure as code: Terraform for vSphere and VMware Cloud Foundation, and manifests for Kubernetes."""

from gpuplan.deliver.infrastructure.kubernetes import kubernetes_files
from gpuplan.deliver.infrastructure.terraform import shown, terraform_files
from gpuplan.deliver.infrastructure.writing import one_line, written
from gpuplan.plan import Plan

__all__ = ["infrastructure_files"]


def infrastructure_files(plan: Plan) -> dict[str, str]:
    """Path -> text of the files that build the clusters, networks and VMs of a plan; a README alone if it has no host."""
    title = one_line(plan.scenario.name) or "GPU design"
    if not plan.pools:
        return {"terraform/README.md": written("nothing.md", {"title": title})}
    context = {"title": title, **shown(plan)}
    files = {f"terraform/{name}": text for name, text in terraform_files(plan, context).items()}
    return files | {f"kubernetes/{name}": text for name, text in kubernetes_files(plan, context).items()}
