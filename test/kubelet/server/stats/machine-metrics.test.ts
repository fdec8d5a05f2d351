import {expect, test} from 'vitest';
import {collectMachineMetrics} from '../../../../src/kubelet/server/stats/machine-metrics.js';

test('the machine has the metrics of cAdvisor, without timestamps', () => {
  const ids = {machineId: 'm', systemUuid: 's', bootId: 'b'};
  const families = collectMachineMetrics(
    {memoryBytes: 1024n, swapTotalBytes: 0n},
    {ids, cpuInfo: '', kernelRelease: '6.1.0', osImage: 'Debian'},
  );
  const labels = {machine_id: 'm', system_uuid: 's', boot_id: 'b'};
  const found = new Map(families.map(({name, samples}) => [name, samples]));
  expect([...found.keys()].toSorted()).toEqual([
    'cadvisor_version_info',
    'machine_cpu_books',
    'machine_cpu_cores',
    'machine_cpu_drawers',
    'machine_cpu_physical_cores',
    'machine_cpu_sockets',
    'machine_memory_bytes',
    'machine_nvm_avg_power_budget_watts',
    'machine_nvm_capacity',
    'machine_scrape_error',
    'machine_swap_bytes',
  ]);
  expect(found.get('machine_memory_bytes')).toEqual([{labels, value: 1024}]);
  expect(found.get('machine_nvm_capacity')).toEqual([
    {labels: {...labels, mode: 'app_direct_mode'}, value: 0},
    {labels: {...labels, mode: 'memory_mode'}, value: 0},
  ]);
  expect(found.get('cadvisor_version_info')).toEqual([
    {
      labels: {
        ...{kernelVersion: '6.1.0', osVersion: 'Debian'},
        ...{dockerVersion: '', cadvisorVersion: '', cadvisorRevision: ''},
      },
      value: 1,
    },
  ]);
});
