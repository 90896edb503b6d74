# Reads hosts, GPUs, VMs and clusters of one vCenter into a JSON file for `gpuplan inventory`. It changes nothing:
# the only commands on vCenter are Get-View, which read. A read-only account is enough.
#   Connect-VIServer vcenter.example.com
#   ./collect.ps1 -To vcenter.json
# In the file: names of hosts, VMs and clusters, CPU, memory and versions of hosts, their PCI devices, GPUs and vGPU
# profiles, the GPU devices of VMs with CPU and memory, settings of HA and DRS. No users, addresses, disks or networks.
param([string]$To = 'vcenter.json')

$restart = @{}
$clusters = foreach ($c in Get-View -ViewType ClusterComputeResource -Property Name, ConfigurationEx) {
    $das = $c.ConfigurationEx.DasConfig
    foreach ($vm in $c.ConfigurationEx.DasVmConfig) { $restart["$($vm.Key)"] = "$($vm.DasSettings.RestartPriority)" }
    [pscustomobject]@{
        id = "$($c.MoRef)"; name = $c.Name; haEnabled = [bool]$das.Enabled; drsEnabled = [bool]$c.ConfigurationEx.DrsConfig.Enabled
        admissionControlEnabled = [bool]$das.AdmissionControlEnabled; failoverLevel = [int]$das.AdmissionControlPolicy.FailoverLevel
        defaultRestartPriority = "$($das.DefaultVmSettings.RestartPriority)"
    }
}
$hosts = foreach ($h in Get-View -ViewType HostSystem -Property Name, Parent, Runtime, Config.Product, Hardware, Config.GraphicsInfo, Config.GraphicsConfig, Config.SharedPassthruGpuTypes, Config.PciPassthruInfo) {
    [pscustomobject]@{
        id = "$($h.MoRef)"; name = $h.Name; cluster = "$($h.Parent)"; version = $h.Config.Product.Version
        connectionState = "$($h.Runtime.ConnectionState)"; inMaintenanceMode = [bool]$h.Runtime.InMaintenanceMode
        model = $h.Hardware.SystemInfo.Model; memorySize = $h.Hardware.MemorySize
        numCpuPackages = $h.Hardware.CpuInfo.NumCpuPackages; numCpuCores = $h.Hardware.CpuInfo.NumCpuCores; numCpuThreads = $h.Hardware.CpuInfo.NumCpuThreads
        graphicsInfo = @($h.Config.GraphicsInfo | Where-Object { $_ } | ForEach-Object { [pscustomobject]@{
            deviceName = $_.DeviceName; vendorName = $_.VendorName; pciId = $_.PciId; graphicsType = $_.GraphicsType
            vgpuMode = $_.VgpuMode; memorySizeInKB = $_.MemorySizeInKB; vm = @($_.Vm | Where-Object { $_ } | ForEach-Object { "$_" }) } })
        sharedPassthruAssignmentPolicy = $h.Config.GraphicsConfig.SharedPassthruAssignmentPolicy
        sharedPassthruGpuTypes = @($h.Config.SharedPassthruGpuTypes | Where-Object { $_ })
        pciDevice = @($h.Hardware.PciDevice | Where-Object { $_.VendorId -eq 0x10de } | Select-Object Id, ClassId, VendorId, DeviceId, SubDeviceId, DeviceName)
        pciPassthruInfo = @($h.Config.PciPassthruInfo | Where-Object { $_.PassthruEnabled } | Select-Object Id, PassthruEnabled)
    }
}
$vms = foreach ($v in Get-View -ViewType VirtualMachine -Property Name, Runtime.Host, Runtime.PowerState, Config.Template, Config.Hardware) {
    [pscustomobject]@{
        id = "$($v.MoRef)"; name = $v.Name; host = "$($v.Runtime.Host)"; powerState = "$($v.Runtime.PowerState)"; template = [bool]$v.Config.Template
        numCPU = $v.Config.Hardware.NumCPU; memoryMB = $v.Config.Hardware.MemoryMB; restartPriority = $restart["$($v.MoRef)"]
        devices = @($v.Config.Hardware.Device | Where-Object { $_.GetType().Name -eq 'VirtualPCIPassthrough' } | ForEach-Object {
            [pscustomobject]@{ kind = $_.Backing.GetType().Name; backing = $_.Backing } })
    }
}
[pscustomobject]@{ gpuplan = 1; exported = (Get-Date).ToString('s'); clusters = @($clusters); hosts = @($hosts); vms = @($vms) } |
    ConvertTo-Json -Depth 8 -Compress | Out-File -Encoding utf8 -FilePath $To
