"""The scenario: the customer's question as inputs that are checked, frozen and versioned.

``load_scenario`` reads a file or an example, ``FIELDS`` describes every input, ``Scenario.with_value`` changes one.
"""

from gpuplan.scenario.checking import MAX_ENTRIES, MAX_GROUPS, MAX_ORIGINS, MAX_VMS, from_dict, wrong_values
from gpuplan.scenario.files import (
    BETWEEN,
    MAX_FILE_BYTES,
    MAX_VALUES,
    decode_scenario,
    example_names,
    json_schema,
    load_scenario,
    parse_scenario,
    scenario_path,
)
from gpuplan.scenario.hosts_and_vms import (
    DAYS,
    EXISTING_HOSTS,
    FIRST,
    NEW_HOSTS,
    OTHER_VMS,
    PERPETUAL,
    VMS_WITHOUT_GPU,
    HostKind,
    Listed,
    NewHosts,
    OtherVms,
    host_kinds,
    hosts_text,
    new_hosts,
    new_hosts_text,
    other_vms,
    slug,
    vms_text,
)
from gpuplan.scenario.hours_and_sites import hours_length_h, hours_min, sites_people
from gpuplan.scenario.inputs import (
    FIELD_BY_PATH,
    FIELDS,
    GROUP_FIELD_BY_NAME,
    GROUP_FIELDS,
    GROUP_RULES,
    MAX_GPUS,
    METHODS,
    MODES,
    PRICE,
    RISKS,
    RULES,
    field_of,
    table_path,
)
from gpuplan.scenario.kinds import Field, as_python, parse_value
from gpuplan.scenario.problems import Problem, ScenarioError, one_line, pick, problem, show, shown_name
from gpuplan.scenario.reading import FileLimits, read_data
from gpuplan.scenario.scenario import DAY, MAPS, UNASSIGNED, Confirmation, Scenario
from gpuplan.scenario.sections import (
    CONFIRMED,
    DEFAULT,
    STATED,
    Availability,
    Cost,
    Demand,
    Group,
    Hardware,
    Internal,
    Limits,
    Management,
    Network,
    Note,
    Origin,
    Platform,
    Training,
)
from gpuplan.scenario.views import KINDS_PATH, clusters_of_kinds, is_mixed, path_of_kind, views

__all__ = ["BETWEEN", "CONFIRMED", "DAY", "DAYS", "DEFAULT", "EXISTING_HOSTS", "FIELDS", "FIELD_BY_PATH"]
__all__ += ["FIRST", "GROUP_FIELDS", "GROUP_FIELD_BY_NAME", "GROUP_RULES", "KINDS_PATH", "MAPS"]
__all__ += ["MAX_ENTRIES", "MAX_FILE_BYTES", "MAX_GPUS", "MAX_GROUPS", "MAX_ORIGINS", "MAX_VALUES", "MAX_VMS"]
__all__ += ["METHODS", "MODES", "NEW_HOSTS", "OTHER_VMS", "PERPETUAL", "PRICE", "RISKS", "RULES", "STATED"]
__all__ += ["UNASSIGNED", "VMS_WITHOUT_GPU", "Availability", "Confirmation", "Cost", "Demand", "Field"]
__all__ += ["FileLimits", "Group", "Hardware", "HostKind", "Internal", "Limits", "Listed", "Management"]
__all__ += ["Network", "NewHosts", "Note", "Origin", "OtherVms", "Platform", "Problem", "Scenario"]
__all__ += ["ScenarioError", "Training", "as_python", "clusters_of_kinds", "decode_scenario", "example_names"]
__all__ += ["field_of", "from_dict", "host_kinds", "hosts_text", "hours_length_h", "hours_min", "is_mixed"]
__all__ += ["json_schema", "load_scenario", "new_hosts", "new_hosts_text", "one_line", "other_vms"]
__all__ += ["parse_scenario", "parse_value", "path_of_kind", "pick", "problem", "read_data", "scenario_path"]
__all__ += ["show", "shown_name", "sites_people", "slug", "table_path", "views", "vms_text", "wrong_values"]
