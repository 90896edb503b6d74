"""The inputs of a scenario: what each may hold, how it is asked for, and how what is given is read.

``FIELDS`` and ``GROUP_FIELDS`` are the single description of every input: its bounds, its
default, its label and the question to ask for it. Validation, the JSON Schema and the forms
of the app all read them.
"""

from __future__ import annotations

import datetime
import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from gpuplan.units import exact

MAX_GPUS = 200_000
MAX_SITES = 8
MODES = ("passthrough", "vgpu", "mig", "bitfusion")
DAYS = ("every-day", "weekdays", "weekends")
NEXT_TO_NOTHING = Fraction(1, 10**12)
"""What is not 0 is at least this: a smaller number would vanish somewhere on the way to the answer."""
RULES = ("sum", "hours", "wait", "wait-time", "turned-away")
"""How many GPUs are enough: for the sum of the peaks, for the busiest hour, or so that few have to wait, wait long, or are
turned away."""
METHODS = ("auto", "closed", "poisson", "bursty")


@dataclass(frozen=True, slots=True)
class Field:
    """One input of a scenario: where it is stored, what it may be, and how it is asked for.

    ``kind`` is text, area (text of several lines), int, number, share (1 is 100 %), gpus (a fraction of one GPU or a whole number),
    hours (of a day), sites (places with their people), date, currency, range (two numbers), choice, bool or id (of a row
    in the catalog table ``table``). ``optional`` inputs may be empty.
    """

    path: str
    label: str
    kind: str
    default: Any
    low: float = 0
    high: float = 0
    choices: tuple[str | int, ...] = ()
    table: str = ""
    unit: str = ""
    optional: bool = False
    question: str = ""

    def allowed(self) -> str:
        """What this field accepts, in words."""
        empty = ", or nothing" if self.optional else ""
        if self.kind == "text":
            return f"text of {self.low:g} to {self.high:g} characters on one line"
        if self.kind == "area":
            return f"text of at most {self.high:,g} characters on any number of lines{empty}"
        if self.kind == "int":
            return f"a whole number from {self.low:.10g} to {self.high:.10g}{empty}"
        if self.kind == "number":
            return f"a number from {self.low:.10g} to {self.high:.10g}{empty}"
        if self.kind == "share":
            percent = f"{100 * self.low:g} % to {100 * self.high:g} %"
            return f"a share from {self.low:g} to {self.high:g} (or {percent}){empty}"
        if self.kind == "hours":
            return f"hours of a day in quarters of an hour, such as 09:00-18:00 or 22:00-06:00{empty}"
        if self.kind == "sites":
            return (
                f"places or time zones, such as 'Bangalore 25, Austin 15' or 'UTC+5:30', at most {MAX_SITES}, with the people "
                f"of each or of none{empty}"
            )
        if self.kind == "date":
            return f"a day such as 2026-11-21{empty}"
        if self.kind == "currency":
            return "three capital letters such as USD, EUR or INR"
        if self.kind == "range":
            return f"two numbers, the lower first, such as '20 to 60' or '20 % to 60 %'{empty}"
        if self.kind == "gpus":
            return f"a fraction of one GPU from {self.low:g} (such as 1/8), or a whole number up to {self.high:g}"
        if self.kind == "bool":
            return "true or false"
        if self.kind == "id":
            return f"the id of a row in the catalog table {self.table}{empty}"
        return "one of " + ", ".join(str(c) for c in self.choices) + empty


FIELDS: tuple[Field, ...] = (
    Field("name", "Name of the design", "text", "Untitled design", 1, 80),
    Field("customer", "Customer", "text", "", 0, 80),
    Field(
        "demand.stated_gpus",
        "Stated total",
        "int",
        None,
        1,
        MAX_GPUS,
        unit="GPU",
        optional=True,
        question="Has a capacity analysis already given a number of GPUs? It wins over the sum of the "
        "groups; leave it empty to size from the groups.",
    ),
    Field(
        "demand.rule",
        "GPUs are enough for",
        "choice",
        "sum",
        choices=RULES,
        question="Must there be a GPU for everybody at any time, or may somebody wait once in a while?",
    ),
    Field(
        "demand.chance",
        "How often at most",
        "share",
        0.05,
        0.0001,
        0.5,
        unit="%",
        question="One time in how many may somebody wait, wait longer than stated, or be turned away?",
    ),
    Field(
        "demand.wait_min",
        "Wait that is too long",
        "number",
        10,
        0,
        10_080,
        unit="min",
        question="How long may a piece of work wait before anybody minds?",
    ),
    Field(
        "demand.for_whom",
        "Held for",
        "choice",
        "each",
        choices=("each", "all"),
        question="Does every group get this promise, or all requests together? Those who want many GPUs at once wait more "
        "often than the others.",
    ),
    Field(
        "demand.method",
        "Assumption about arrivals",
        "choice",
        "auto",
        choices=METHODS,
        question="A known number of people, independent arrivals at random, or bursts as traces of real clusters show them?",
    ),
    Field(
        "demand.peakedness",
        "Peakedness of the demand",
        "number",
        None,
        0.1,
        10_000,
        optional=True,
        question="Variance over mean of the GPUs wanted at once. An audit of the existing use gives it. Empty: that of "
        "independent arrivals times the planning value for bursts.",
    ),
    Field(
        "demand.peakedness_low",
        "Peakedness, low",
        "number",
        None,
        0.1,
        10_000,
        optional=True,
        question="The least peakedness that is likely. Empty: independent arrivals, or what is stated.",
    ),
    Field(
        "demand.peakedness_high",
        "Peakedness, high",
        "number",
        None,
        0.1,
        10_000,
        optional=True,
        question="The largest peakedness that is likely. Empty: the highest planning value, or what is stated.",
    ),
    Field(
        "demand.years",
        "Years to plan for",
        "int",
        3,
        1,
        7,
        unit="year",
        question="For how many years must the purchase plan reach?",
    ),
    Field(
        "hardware.gpu",
        "GPU model",
        "id",
        "l40s-48gb",
        table="gpus",
        question="Which GPU does the software stack support, and how much frame buffer does the largest "
        "model need?",
    ),
    Field(
        "hardware.server",
        "Server",
        "id",
        None,
        table="servers",
        optional=True,
        question="Which servers does the customer buy? The server limits the GPUs per host.",
    ),
    Field(
        "hardware.gpus_per_host",
        "GPUs per host",
        "int",
        4,
        1,
        16,
        unit="GPU",
        question="How many GPUs does one person need at once in one physical host? At least that many.",
    ),
    Field(
        "hardware.vcpus_per_host",
        "vCPUs per host",
        "int",
        None,
        1,
        10_000,
        optional=True,
        question="How many vCPUs may a host give to its VMs (cores times the overcommitment you allow)? Empty: CPU "
        "is not counted.",
    ),
    Field(
        "hardware.memory_gib_per_host",
        "Memory per host",
        "int",
        None,
        1,
        1_000_000,
        unit="GiB",
        optional=True,
        question="How much memory may a host give to its VMs? VMs with passthrough GPUs reserve all of theirs. Empty: "
        "memory is not counted.",
    ),
    Field(
        "hardware.existing_hosts",
        "Hosts already there",
        "int",
        0,
        0,
        1_000,
        unit="host",
        question="Does the customer own hosts with the same GPU model that join the cluster?",
    ),
    Field(
        "hardware.existing_gpus_per_host",
        "GPUs in each of them",
        "int",
        None,
        1,
        16,
        unit="GPU",
        optional=True,
        question="How many GPUs has each of the hosts already there? Empty: as many as a new host.",
    ),
    Field(
        "availability.host_failures",
        "Host failures to tolerate",
        "int",
        1,
        0,
        4,
        unit="host",
        question="How many hosts may be lost at once while everybody still gets a GPU?",
    ),
    Field(
        "availability.maintenance_failure_accepted",
        "A failure during maintenance is accepted",
        "bool",
        True,
        question="While one host is down for maintenance, may a second failure leave somebody without a "
        "GPU? If not, one more host is needed.",
    ),
    Field(
        "availability.mtbf_h",
        "Time between failures of a host",
        "int",
        None,
        24,
        10_000_000,
        unit="h",
        optional=True,
        question="How often did a host fail in the last years? Empty: the planning value of the catalog.",
    ),
    Field(
        "availability.repair_h",
        "Time to repair a host",
        "int",
        None,
        1,
        10_000,
        unit="h",
        optional=True,
        question="How long until a failed host is back: next business day, or a part on the shelf? Empty: the planning "
        "value of the catalog.",
    ),
    Field(
        "availability.maintenance_h_per_host",
        "Maintenance per host and year",
        "int",
        None,
        0,
        2_000,
        unit="h",
        optional=True,
        question="How many hours a year is one host out for patches, firmware and drivers? Empty: the planning value of "
        "the catalog.",
    ),
    Field(
        "availability.stun_limit_s",
        "vMotion stun limit",
        "int",
        None,
        1,
        3_600,
        unit="s",
        optional=True,
        question="How long may a VM stand still while it is moved? Empty: the default limit of vSphere.",
    ),
    Field(
        "platform.vsphere",
        "vSphere version",
        "id",
        "8.0u3",
        table="vsphere",
        question="Which version runs today, or will run when this is installed? It decides which sharing "
        "modes exist.",
    ),
    Field(
        "platform.vgpu_sizes",
        "Time-sliced vGPUs on one GPU",
        "choice",
        "equal",
        choices=("equal", "mixed"),
        question="All of one size, the default, or of mixed sizes, which vSphere 8.0 U3 can switch on per GPU for "
        "boards that support it?",
    ),
    Field(
        "platform.bitfusion",
        "Bitfusion may be used",
        "bool",
        False,
        question="Does the customer own Bitfusion? It can no longer be bought.",
    ),
    Field(
        "platform.bitfusion_servers",
        "Bitfusion servers get GPUs by",
        "choice",
        "auto",
        choices=("auto", "vgpu", "passthrough"),
        question="As one more consumer of vComputeServer, as the reference architecture draws it, or by "
        "passthrough on hosts of their own, as the vendor's FAQ asks?",
    ),
    Field(
        "platform.assignment",
        "VMs are put on hosts",
        "choice",
        "pack",
        choices=("pack", "spread"),
        question="Together, on the fullest host that has room, as the consolidation policy does, or apart, as vSphere does "
        "unless told otherwise? The simulation of waiting follows it.",
    ),
    Field(
        "network.link_gbit_s",
        "Link per GPU host",
        "choice",
        25,
        choices=(1, 10, 25, 40, 50, 100, 200, 400),
        unit="Gbit/s",
        question="How fast is the network between compute hosts and GPU hosts?",
    ),
    Field(
        "network.transport",
        "Transport",
        "choice",
        "tcp",
        choices=("tcp", "pvrdma", "roce", "roce-v1", "infiniband"),
        question="Plain TCP, or RDMA? Distributed training and remote GPUs gain most from RDMA.",
    ),
    Field(
        "network.mtu_bytes",
        "MTU",
        "choice",
        9000,
        choices=(1500, 9000),
        question="Are jumbo frames set on every adapter, distributed switch and physical switch on the way?",
    ),
    Field(
        "network.latency_us",
        "Round trip",
        "number",
        None,
        1,
        100_000,
        unit="us",
        optional=True,
        question="What round trip does a ping between a compute host and a GPU host take? At most 50 us is recommended; that is "
        "planned with while nobody has measured.",
    ),
    Field(
        "network.users_per_link",
        "Users sharing a link",
        "int",
        None,
        1,
        10_000,
        optional=True,
        question="How many users of remote GPUs transfer over one link at the same time? Left empty, those whose GPUs are in "
        "one host.",
    ),
    Field(
        "network.tcp_gbit_s",
        "TCP rate of a host",
        "number",
        None,
        0.1,
        800,
        unit="Gbit/s",
        optional=True,
        question="How much does a host move over TCP, whatever its link? Measure it with several streams; untuned stacks "
        "stay far below a fast link.",
    ),
    Field(
        "network.other_gbit_s",
        "Other traffic of a host",
        "number",
        10,
        0,
        1_000,
        unit="Gbit/s",
        question="What do storage, vMotion and the VMs' own traffic take of one host's network at the same time?",
    ),
    Field(
        "network.compute_hosts",
        "Compute hosts on the fabric",
        "int",
        None,
        1,
        10_000,
        unit="host",
        optional=True,
        question="How many hosts without GPUs, on which users of remote GPUs run, are on the same switches? Left empty, none is "
        "counted.",
    ),
    Field(
        "network.oversubscription",
        "Oversubscription at most",
        "number",
        None,
        1,
        20,
        optional=True,
        question="How much more bandwidth may the hosts of a leaf have than its uplinks? Left empty: 1 for training over RDMA, 3 "
        "for everything else.",
    ),
    Field(
        "network.leaf",
        "Leaf switch",
        "id",
        None,
        table="switches",
        optional=True,
        question="Which switch do the hosts connect to? Left empty, the smallest of the catalog that takes them.",
    ),
    Field(
        "network.spine",
        "Spine switch",
        "id",
        None,
        table="switches",
        optional=True,
        question="Which switch joins the leaves? Left empty, the smallest of the catalog that takes them.",
    ),
    Field(
        "training.workload",
        "Training job",
        "id",
        "resnet-50-train-256",
        table="network_workloads",
        question="Which model is trained on several hosts?",
    ),
    Field(
        "training.hosts",
        "Hosts of the job",
        "int",
        4,
        1,
        64,
        unit="host",
        question="On how many hosts does one training job run?",
    ),
    Field(
        "training.gpus_per_host",
        "GPUs of the job per host",
        "int",
        None,
        1,
        16,
        unit="GPU",
        optional=True,
        question="How many GPUs of each host does the job take? Left empty, all of them.",
    ),
    Field(
        "training.batch",
        "Batch per GPU",
        "int",
        None,
        1,
        1_000_000,
        optional=True,
        question="How many samples does one GPU process in a step? Left empty, as in the published measurement.",
    ),
    Field(
        "training.gpu_samples_per_s",
        "Speed of one GPU",
        "number",
        None,
        0.001,
        100_000_000,
        optional=True,
        question="How many samples a second does one GPU alone train, by the customer's own measurement?",
    ),
    Field(
        "training.samples",
        "Samples in the training set",
        "int",
        None,
        1,
        1_000_000_000_000,
        optional=True,
        question="How many samples has the training set (tokens for GNMT)? Left empty, ImageNet for the networks that are made for it.",
    ),
    Field(
        "training.epochs",
        "Epochs",
        "number",
        None,
        0.01,
        100_000,
        optional=True,
        question="How often is the training set gone through?",
    ),
    Field(
        "training.aggregation",
        "Gradients are summed by",
        "choice",
        "ring",
        choices=("ring", "hierarchical", "parameter-server"),
        question="One ring through all GPUs, a sum inside every host before a ring of the hosts, or parameter servers?",
    ),
    Field(
        "cost.years",
        "Years to look at",
        "int",
        5,
        1,
        7,
        unit="year",
        question="Over how many years is the money counted? Often the years for which hardware is written off.",
    ),
    Field(
        "cost.as_of",
        "Day of this calculation",
        "date",
        None,
        optional=True,
        question="A price is called old if it is more than a year older than this day. Empty: the day of the newest price in "
        "the catalog.",
    ),
    Field(
        "cost.currency",
        "Currency",
        "currency",
        "USD",
        question="In which currency is the customer quoted? Prices you enter are in this currency; those of the catalog are "
        "converted.",
    ),
    Field(
        "cost.usd_rate",
        "One US dollar is",
        "number",
        None,
        0.0001,
        100_000,
        optional=True,
        question="How much of the currency is one US dollar today? The prices of the catalog are in US dollars.",
    ),
    Field(
        "cost.discount_rate",
        "Discount rate",
        "share",
        None,
        0,
        0.5,
        unit="%",
        optional=True,
        question="What does the customer's finance department discount later payments with? Empty: the planning value of the "
        "catalog; 0 adds plain sums.",
    ),
    Field(
        "cost.hardware_discount",
        "Discount on hardware",
        "share",
        0.0,
        0,
        0.9,
        unit="%",
        question="What is taken off the price of servers, GPUs, adapters, switches and cables?",
    ),
    Field(
        "cost.licence_discount",
        "Discount on licences",
        "share",
        0.0,
        0,
        0.9,
        unit="%",
        question="What is taken off the price of VMware and NVIDIA licences?",
    ),
    Field(
        "cost.platform_licence",
        "Platform licence",
        "choice",
        "vcf",
        choices=("vcf", "vvf", "socket", "owned"),
        question="VMware Cloud Foundation or vSphere Foundation, both by the core and year, perpetual licences by the processor "
        "with yearly support, or already paid for?",
    ),
    Field(
        "cost.gpu_licence",
        "GPU software licence",
        "choice",
        "year",
        choices=("year", "5-years", "perpetual", "owned"),
        question="NVIDIA AI Enterprise by the year, for 5 years, perpetual with 5 years of support, or already paid for?",
    ),
    Field(
        "cost.sockets",
        "Processors per host",
        "int",
        None,
        1,
        16,
        optional=True,
        question="How many processors has a GPU host? Empty: those of the server in the catalog.",
    ),
    Field(
        "cost.cores_per_socket",
        "Cores per processor",
        "int",
        None,
        1,
        512,
        optional=True,
        question="Licences by the core count at least 16 for each processor. Empty: the planning value of the catalog.",
    ),
    Field(
        "cost.support_share",
        "Hardware support a year",
        "share",
        None,
        0,
        0.5,
        unit="%",
        optional=True,
        question="What does support of the hardware cost a year, as a share of its price? Empty: the planning value of the "
        "catalog.",
    ),
    Field(
        "cost.residual_share",
        "Value left at the end",
        "share",
        None,
        0,
        1,
        unit="%",
        optional=True,
        question="What is the hardware worth at the end, as a share of its price? Empty: the planning value of the catalog.",
    ),
    Field(
        "cost.pue",
        "PUE of the data centre",
        "number",
        None,
        1,
        5,
        optional=True,
        question="How much power does the building draw for each watt of the machines? Empty: the planning value of the catalog.",
    ),
    Field(
        "cost.grid_kg_kwh",
        "CO2 of the grid",
        "number",
        None,
        0,
        3,
        unit="kg/kWh",
        optional=True,
        question="How much CO2 does a kilowatt-hour stand for where the machines run? Empty: the planning value of the catalog.",
    ),
    Field(
        "cost.host_base_w",
        "A host without its GPUs",
        "number",
        None,
        50,
        10_000,
        unit="W",
        optional=True,
        question="What does a host draw at full load, GPUs not counted? Empty: the planning value of the catalog.",
    ),
    Field(
        "cost.rack_kw",
        "Power limit of a rack",
        "number",
        None,
        1,
        500,
        unit="kW",
        optional=True,
        question="How many kilowatts can a rack be given and cooled? Empty: the planning value of the catalog.",
    ),
    Field(
        "cost.utilisation",
        "GPU-hours used",
        "share",
        None,
        0.01,
        1,
        unit="%",
        optional=True,
        question="What share of the hours of all GPUs is somebody expected to use? Empty: what the groups of the design hold "
        "on average.",
    ),
    Field(
        "cost.spare_gpus",
        "Spare GPU boards on the shelf",
        "int",
        0,
        0,
        1_000,
        question="How many GPU boards are kept on the shelf, to repair a host without waiting for a part?",
    ),
    Field(
        "cost.storage_tb",
        "Storage to buy",
        "number",
        0,
        0,
        100_000,
        unit="TB",
        question="How much shared storage is bought for this design? 0: it is there already, or not part of this.",
    ),
    Field(
        "cost.compute_hosts_bought",
        "Compute hosts are bought too",
        "bool",
        False,
        question="Are the compute hosts whose VMs use remote GPUs part of this purchase?",
    ),
    Field(
        "cost.management_hosts",
        "Hosts to buy for the management domain",
        "int",
        0,
        0,
        64,
        unit="host",
        question="Is there a management domain already? If not, it takes at least 4 hosts of its own.",
    ),
    Field(
        "internal.notes",
        "Internal notes",
        "area",
        None,
        0,
        4_000,
        optional=True,
        question="What must the team remember that the customer should not read?",
    ),
    Field(
        "internal.margin",
        "Margin",
        "share",
        None,
        0,
        0.9,
        unit="%",
        optional=True,
        question="Which share of the selling price of hardware, licences and their support is ours? Prices are then what we "
        "pay, and all costs what the customer pays. Energy, space, people and rent carry none.",
    ),
)

GROUP_FIELDS: tuple[Field, ...] = (
    Field("name", "Group", "text", "New group", 1, 60, question="Who needs GPUs?"),
    Field(
        "use_case",
        "Use case",
        "id",
        "ds-workstation",
        table="use_cases",
        question="What do they do with a GPU? This picks the GPU configuration of Table 1.",
    ),
    Field(
        "people",
        "People",
        "int",
        1,
        0,
        100_000,
        question="How many people (or jobs, or applications) are in the group?",
    ),
    Field(
        "active_share",
        "Active at the peak",
        "share",
        1.0,
        0,
        1,
        unit="%",
        question="How many of them use a GPU at the same time in the busiest hour?",
    ),
    Field(
        "vms_each",
        "VMs each",
        "int",
        1,
        1,
        1_000,
        question="How many VMs or worker nodes does one of them run at once? More than one is "
        "distributed work.",
    ),
    Field(
        "gpus_each",
        "GPUs per VM",
        "gpus",
        1.0,
        0.01,
        16,
        unit="GPU",
        question="How much GPU does one VM need? All GPUs of one VM are in one physical host.",
    ),
    Field(
        "vgpus_each",
        "vGPUs per VM",
        "int",
        1,
        1,
        16,
        question="In how many vGPUs does one VM get its GPU share? Several fractional ones in one VM need vSphere 8.0.",
    ),
    Field(
        "workload",
        "Work",
        "id",
        None,
        table="network_workloads",
        optional=True,
        question="What runs on the GPU? It decides what a network between VM and GPU costs. Left empty, what is usual for the "
        "use case.",
    ),
    Field(
        "vcpus_each",
        "vCPUs per VM",
        "int",
        None,
        1,
        1_024,
        optional=True,
        question="How many vCPUs has one VM? Counted if the host's are given too.",
    ),
    Field(
        "memory_gib_each",
        "Memory per VM",
        "int",
        None,
        1,
        24_576,
        unit="GiB",
        optional=True,
        question="How much memory has one VM? Counted if the host's is given too.",
    ),
    Field(
        "remote_allowed",
        "GPU may be remote",
        "bool",
        True,
        question="May the GPU be reached over the network, or must it be in the host the VM runs on?",
    ),
    Field(
        "low_latency",
        "Low latency for long",
        "bool",
        False,
        question="Does the work need the GPU at minimum latency over long periods?",
    ),
    Field(
        "isolation",
        "Guaranteed compute share",
        "bool",
        False,
        question="Must a neighbour on the same GPU never slow this group down?",
    ),
    Field(
        "access",
        "Access mode",
        "choice",
        "auto",
        choices=("auto", *MODES),
        question="Leave it to the rules, unless the customer has decided.",
    ),
    Field(
        "sites",
        "Where they are",
        "sites",
        None,
        optional=True,
        question="In which cities or time zones are they, and how many in each? Empty: the hours are UTC.",
    ),
    Field(
        "hours",
        "Hours",
        "hours",
        None,
        optional=True,
        question="From when to when, local time, do they use GPUs? Training at night is 20:00-06:00. Empty: around the clock.",
    ),
    Field(
        "days",
        "Days",
        "choice",
        None,
        choices=DAYS,
        optional=True,
        question="On which days? A night counts to the day on which it begins. Empty: every day.",
    ),
    Field(
        "off_hours_share",
        "Active outside them",
        "share",
        None,
        0,
        1,
        unit="%",
        optional=True,
        question="How many of them use a GPU outside these hours? Empty: nobody.",
    ),
    Field(
        "work_h",
        "A piece of work",
        "number",
        None,
        0.01,
        2_000,
        unit="h",
        optional=True,
        question="How long does one hold its GPUs before giving them back? Empty: the planning value of the catalog.",
    ),
    Field(
        "jobs_per_day",
        "Pieces of work a day",
        "number",
        None,
        0.01,
        1_000_000,
        optional=True,
        question="How many does the whole group begin on a working day? Empty: as many as keep the active people busy.",
    ),
    Field(
        "growth",
        "Growth a year",
        "share",
        None,
        -0.5,
        5,
        unit="%",
        optional=True,
        question="By how much does the group grow each year? Empty: not at all.",
    ),
)

PRICE = Field(
    "prices", "Price", "number", None, 0, 1e9, optional=True, question="What has the customer been quoted?"
)
RANGE = Field(
    "ranges",
    "Low and high",
    "range",
    None,
    -0.5,
    1e9,
    optional=True,
    question="Between which values may this input turn out to be?",
)
FIELD_BY_PATH: Mapping[str, Field] = {f.path: f for f in FIELDS}
GROUP_FIELD_BY_NAME: Mapping[str, Field] = {f.path: f for f in GROUP_FIELDS}


def field_of(path: str) -> Field:
    """The field at a scenario path, those of groups, prices and ranges included."""
    for spec in (PRICE, RANGE):
        if path.startswith(spec.path + "."):
            return spec
    return GROUP_FIELD_BY_NAME[path.split(".", 2)[2]] if path.startswith("groups.") else FIELD_BY_PATH[path]


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with an input: its path, the value given, and what is allowed."""

    path: str
    value: str
    message: str

    def __str__(self) -> str:
        if not self.path:
            return self.message
        if self.value == "nothing":
            return f"{self.path} is empty: {self.message}"
        return f"{self.path}: {self.value} is not allowed: {self.message}"


class ScenarioError(ValueError):
    """A scenario that cannot be used. ``problems`` names each field, its value and what is allowed."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(p) for p in self.problems))


def show(value: Any, limit: int = 60) -> str:
    """A value as it appears in a message: quoted if text, cut if long."""
    if isinstance(value, str):
        text = one_line(json.dumps(value, ensure_ascii=False))
    else:
        try:
            text = one_line(str(value))
        except (ValueError, RecursionError):  # an integer of thousands of digits, or deep nesting
            text = f"a {type(value).__name__} too long to show"
    return text if len(text) <= limit else text[: limit - 3] + "..."


def one_line(text: str) -> str:
    """Text that a terminal and a log can show: what cannot be printed is escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def shown_name(name: str, limit: int = 80) -> str:
    """The name that a user gave a file, as a message shows it: on one line, nothing invisible, cut if long."""
    text = one_line(name[:limit]) or "The file"
    return text if len(text) <= limit and len(name) <= limit else text[: limit - 3] + "..."


def parse_value(spec: Field, given: Any, path: str) -> Any:
    """The value of a field from what a file or a form gives.

    Forms give text: ``1/8`` and ``12.5 %`` are read, an empty text is nothing.

    Raises
    ------
    ScenarioError
        Naming the field, the value and what is allowed.
    """
    problem = ScenarioError([Problem(path, show(given), spec.allowed())])
    if isinstance(given, str) and spec.kind != "text":
        given = given.replace("\r\n", "\n").strip()
        if given == "":
            given = None
    if given is None:
        if spec.optional:
            return None
        raise problem
    if spec.kind == "bool":
        if isinstance(given, bool):
            return given
        raise problem
    if spec.kind in READERS:
        if isinstance(given, datetime.date):  # YAML reads a day without quotes as one
            given = given.isoformat()
        read = READERS[spec.kind](given.strip() if isinstance(given, str) else "")
        if read is None:
            raise problem
        return read
    if spec.kind == "range":
        ends = _range_ends(given)
        if ends is None or not exact(spec.low) <= ends[0] <= ends[1] <= exact(spec.high):
            raise problem
        return tuple(int(end) if end.denominator == 1 else float(end) for end in ends)
    if spec.kind in ("text", "area", "choice", "id"):
        if isinstance(given, bool) or not isinstance(given, str | int | float):
            raise problem
        text = str(given)
        if spec.kind == "choice":
            for choice in spec.choices:
                if text == str(choice):
                    return choice
            raise problem
        if spec.kind == "text":
            text = text.strip()
        printable = all(c.isprintable() or (spec.kind == "area" and c in "\n\t") for c in text)
        if printable and (spec.kind == "id" or spec.low <= len(text) <= spec.high):
            return text
        raise problem
    if (
        isinstance(given, str)
        and re.fullmatch(r"\d{1,3}([.,]\d{3})+", given)
        and (spec.kind == "int" or "," in given)
    ):  # 1.000 is one to some and a thousand to others
        digits = re.sub("[.,]", "", given)
        allowed = f"{spec.allowed()}; thousands are written without a point or comma: {digits}"
        raise ScenarioError([Problem(path, show(given), allowed)])
    number = _number(given, percent=spec.kind in ("share", "gpus"))
    if number and abs(number) < NEXT_TO_NOTHING:
        least = f"{spec.allowed()}; what is not 0 is at least {float(NEXT_TO_NOTHING):.12f}"
        raise ScenarioError([Problem(path, show(given), least)])
    if number is None or not exact(spec.low) <= number <= exact(spec.high):
        raise problem
    if spec.kind == "int":
        if number.denominator != 1:
            raise problem
        return int(number)
    if spec.kind == "gpus" and number > 1 and number.denominator != 1:
        raise problem
    return int(number) if spec.kind in ("gpus", "number") and number.denominator == 1 else float(number)


def _hours_text(given: str) -> str | None:
    """Hours as ``09:00-18:00``, from what people type."""
    clock = r"(\d{1,2})(?:[:.](\d{2}))?"
    found = re.fullmatch(clock + r"\s*[-\u2013]\s*" + clock, given)
    if not found:
        return None
    hour, minute, until, until_minute = (int(part or 0) for part in found.groups())
    if until == until_minute == 0:
        until = 24
    start, end = 60 * hour + minute, 60 * until + until_minute
    if (
        max(minute, until_minute) > 59
        or start % 15
        or end % 15
        or start >= 1440
        or end > 1440
        or start == end
    ):
        return None
    return f"{hour:02}:{minute:02}-{until:02}:{until_minute:02}"


def hours_min(text: str | None) -> tuple[int, int]:
    """(first, last) minute of the day of an hours input; around the clock if it is empty."""
    if text is None:
        return 0, 1440
    start, end = (int(clock[:2]) * 60 + int(clock[3:]) for clock in text.split("-"))
    return start, end


def hours_length_h(text: str | None) -> float:
    """Hours of a day that an hours input spans; all of them if it is empty."""
    start, end = hours_min(text)
    return ((end - start) % 1440 or 1440) / 60


def _sites_text(given: str) -> str | None:
    """Sites as ``Bangalore 25, Austin 15``, from what people type."""
    found = []
    for part in given.split(","):
        name = unicodedata.normalize("NFC", part).strip()
        site = re.fullmatch(r"([^\W\d_][\w/.:+' -]{0,48}?)(?:\s+(\d{1,6}))?", name)
        if not site:
            return None
        found.append((" ".join(site[1].split()), site[2]))
    counted = [number for _, number in found if number is not None]
    if (
        len(found) > MAX_SITES
        or len(counted) not in (0, len(found))
        or (counted and not any(map(int, counted)))
    ):
        return None
    return ", ".join(f"{name} {int(number)}" if number else name for name, number in found)


@lru_cache(maxsize=1024)
def sites_people(text: str | None) -> tuple[tuple[str, int], ...]:
    """(name, people or parts of them) of each site of a sites input; UTC if it is empty."""
    if text is None:
        return (("UTC", 1),)
    found = [re.fullmatch(r"(.*?)(?: (\d+))?", part.strip()) for part in text.split(",")]
    return tuple((site[1], int(site[2] or 1)) for site in found if site)


def _date_text(given: str) -> str | None:
    """A day as 2026-11-21."""
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", given):
        return None
    try:
        return datetime.date.fromisoformat(given).isoformat()
    except ValueError:
        return None


def _currency_text(given: str) -> str | None:
    """A currency code in capitals."""
    return given.upper() if re.fullmatch(r"[A-Za-z]{3}", given) else None


READERS: Mapping[str, Callable[[str], str | None]] = {
    "hours": _hours_text,
    "sites": _sites_text,
    "date": _date_text,
    "currency": _currency_text,
}
"""Kind of field -> what reads the text of a file or a form, None if it cannot."""


def _range_ends(given: Any) -> tuple[Fraction, Fraction] | None:
    """The two ends of a range, from a list of two numbers or a text such as '20 to 60'."""
    if isinstance(given, str):
        found = re.fullmatch(r"([^\s%]+?\s*%?)\s*(?:to|\.\.|[\u2013-])\s*([^\s%]+\s*%?)", given)
        given = [found[1].strip(), found[2]] if found else []
    if not isinstance(given, list | tuple) or len(given) != 2:
        return None
    low, high = (_number(end, percent=isinstance(end, str)) for end in given)
    return None if low is None or high is None else (low, high)


def _number(given: Any, percent: bool) -> Fraction | None:
    if isinstance(given, bool):
        return None
    if isinstance(given, int):
        return Fraction(given)
    if isinstance(given, float):
        return Fraction(str(given)) if math.isfinite(given) else None
    if isinstance(given, str) and len(given) <= 40:
        percent = percent and given.endswith("%")
        text = given.removesuffix("%").strip() if percent else given
        if re.fullmatch(
            r"[+-]?\d{1,18}(\.\d{0,18})?(e[+-]?\d{1,3})?|[+-]?\.\d{1,18}|\d{1,9}\s*/\s*[1-9]\d{0,8}", text
        ):
            value = Fraction(text.replace(" ", ""))
            return value / 100 if percent else value
    return None


def field_schema(spec: Field) -> dict[str, Any]:
    """JSON Schema of one input."""
    body: dict[str, Any]
    if spec.kind == "bool":
        body = {"type": "boolean"}
    elif spec.kind == "choice":
        body = {"enum": list(spec.choices)}
    elif spec.kind in ("text", "area"):
        body = {"type": "string", "minLength": int(spec.low), "maxLength": int(spec.high)}
    elif spec.kind == "id":
        body = {"type": "string"}
    elif spec.kind == "hours":
        body = {
            "type": "string",
            "pattern": "^[0-9]{1,2}([:.][0-9]{2})? *[-\u2013] *[0-9]{1,2}([:.][0-9]{2})?$",
        }
    elif spec.kind == "sites":
        body = {"type": "string", "minLength": 1}
    elif spec.kind == "date":
        body = {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}
    elif spec.kind == "currency":
        body = {"type": "string", "pattern": "^[A-Za-z]{3}$"}
    elif spec.kind == "range":
        ends = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
        body = {"anyOf": [ends, {"type": "string"}]}
    elif spec.kind == "gpus":
        body = {
            "anyOf": [
                {"type": "number", "minimum": spec.low, "maximum": 1},
                {"type": "integer", "minimum": 1, "maximum": int(spec.high)},
                {"type": "string", "pattern": "^[0-9]{1,9}/[1-9][0-9]{0,8}$"},
            ]
        }
    else:
        body = {
            "type": "integer" if spec.kind == "int" else "number",
            "minimum": spec.low,
            "maximum": spec.high,
        }
    if spec.optional:
        body = {"anyOf": [body, {"type": "null"}]}
    return {"title": spec.label, "description": spec.question or spec.label, **body}
