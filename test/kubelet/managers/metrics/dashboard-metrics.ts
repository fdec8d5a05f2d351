/**
 * Metrics of a kubelet that the rules and dashboards of kubernetes-mixin and kube-prometheus use. Each line: path, name,
 * type and labels; labels of the container are `@`. Families that need a control plane are listed apart.
 */
const COMMON = `
/metrics kubelet_cgroup_manager_duration_seconds histogram operation_type
/metrics kubelet_node_name gauge node
/metrics kubelet_pleg_relist_duration_seconds histogram
/metrics kubelet_pleg_relist_interval_seconds histogram
/metrics kubelet_pod_start_duration_seconds histogram
/metrics kubelet_pod_worker_duration_seconds histogram operation_type
/metrics kubelet_running_containers gauge container_state
/metrics kubelet_running_pods gauge
/metrics kubelet_runtime_operations_duration_seconds histogram operation_type
/metrics kubelet_runtime_operations_total counter operation_type
/metrics kubelet_volume_stats_available_bytes gauge namespace,persistentvolumeclaim
/metrics kubelet_volume_stats_capacity_bytes gauge namespace,persistentvolumeclaim
/metrics kubelet_volume_stats_inodes gauge namespace,persistentvolumeclaim
/metrics kubelet_volume_stats_inodes_free gauge namespace,persistentvolumeclaim
/metrics kubelet_volume_stats_inodes_used gauge namespace,persistentvolumeclaim
/metrics kubelet_volume_stats_used_bytes gauge namespace,persistentvolumeclaim
/metrics kubernetes_build_info gauge build_date,compiler,git_commit,git_tree_state,git_version,go_version,major,minor,platform
/metrics process_cpu_seconds_total counter
/metrics process_resident_memory_bytes gauge
/metrics storage_operation_duration_seconds histogram migrated,operation_name,status,volume_plugin
/metrics volume_manager_total_volumes gauge plugin_name,state
/metrics/cadvisor container_blkio_device_usage_total counter @,device,major,minor,operation
/metrics/cadvisor container_cpu_cfs_periods_total counter @
/metrics/cadvisor container_cpu_cfs_throttled_periods_total counter @
/metrics/cadvisor container_cpu_usage_seconds_total counter @,cpu
/metrics/cadvisor container_file_descriptors gauge @
/metrics/cadvisor container_fs_limit_bytes gauge @,device
/metrics/cadvisor container_fs_reads_bytes_total counter @,device
/metrics/cadvisor container_fs_reads_total counter @,device
/metrics/cadvisor container_fs_usage_bytes gauge @,device
/metrics/cadvisor container_fs_writes_bytes_total counter @,device
/metrics/cadvisor container_fs_writes_total counter @,device
/metrics/cadvisor container_memory_cache gauge @
/metrics/cadvisor container_memory_rss gauge @
/metrics/cadvisor container_memory_swap gauge @
/metrics/cadvisor container_memory_usage_bytes gauge @
/metrics/cadvisor container_memory_working_set_bytes gauge @
/metrics/cadvisor container_network_receive_bytes_total counter @,interface
/metrics/cadvisor container_network_receive_packets_dropped_total counter @,interface
/metrics/cadvisor container_network_receive_packets_total counter @,interface
/metrics/cadvisor container_network_transmit_bytes_total counter @,interface
/metrics/cadvisor container_network_transmit_packets_dropped_total counter @,interface
/metrics/cadvisor container_network_transmit_packets_total counter @,interface
/metrics/cadvisor container_processes gauge @
/metrics/cadvisor container_sockets gauge @
/metrics/cadvisor container_start_time_seconds gauge @
/metrics/cadvisor container_threads gauge @
/metrics/cadvisor container_ulimits_soft gauge @,ulimit
/metrics/cadvisor machine_cpu_cores gauge boot_id,machine_id,system_uuid
/metrics/cadvisor machine_memory_bytes gauge boot_id,machine_id,system_uuid
/metrics/probes prober_probe_total counter container,namespace,pod,pod_uid,probe_type,result
/metrics/slis kubernetes_healthcheck gauge name,type
/metrics/slis kubernetes_healthchecks_total counter name,status,type
`;

const IN_A_CLUSTER = `
/metrics kubelet_certificate_manager_client_expiration_renew_errors counter
/metrics kubelet_certificate_manager_client_ttl_seconds gauge
/metrics kubelet_certificate_manager_server_ttl_seconds gauge
/metrics kubelet_server_expiration_renew_errors counter
/metrics rest_client_request_duration_seconds histogram host,verb
/metrics rest_client_requests_total counter code,host,method
`;

const CONTAINER_LABELS = ['container', 'id', 'image', 'name', 'namespace', 'pod'];

/** A metric that a dashboard or rule uses. */
export interface DashboardMetric {
  readonly path: string;
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
}

function parse(text: string): readonly DashboardMetric[] {
  return text
    .trim()
    .split('\n')
    .map((line) => {
      const [path = '', name = '', type = '', labels = ''] = line.split(' ');
      const names = labels.split(',').flatMap((label) => (label === '@' ? CONTAINER_LABELS : label));
      return {path, name, type, labels: names.filter(Boolean).toSorted()};
    });
}

/** Metrics of every kubelet. */
export const DASHBOARD_METRICS = parse(COMMON);
/** Metrics of a kubelet whose certificates a control plane issues. */
export const CLUSTER_DASHBOARD_METRICS = parse(IN_A_CLUSTER);
