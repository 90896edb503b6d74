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
