import {describe, test} from 'vitest';
import {SystemError} from '../../../../src/base/errors.js';
import {machineReader} from '../../../../src/kubelet/node/read-machine.js';
import {discoverCpus} from '../../../../src/kubelet/resources/machine/discover-cpus.js';
import type {MachineFiles} from '../../../../src/kubelet/resources/machine/machine-files.js';
import {parseMachine} from '../../../../src/kubelet/resources/machine/parse-machine.js';
import {readOracle} from '../../read-oracle.js';
import {
  machineOf,
  ORACLE_MACHINES,
  topologyOf,
  type OracleMachine,
  type OracleTopology,
} from './machine-oracle.js';

interface SysfsCase {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  readonly links: Readonly<Record<string, string>>;
  readonly expected: {readonly machineInfo: OracleMachine; readonly discovered: OracleTopology};
}

const SYSFS = readOracle(new URL('sysfs.jsonl.gz', import.meta.url)) as readonly SysfsCase[];

/** Returns files of the given texts, whose directories have links too. */
function filesOf(texts: Readonly<Record<string, string>>, links: readonly string[] = []): MachineFiles {
  const paths = [...Object.keys(texts), ...links];
  return {
    read: (path) => texts[path],
    list: (directory) => {
      const below = paths.filter((path) => path.startsWith(`${directory}/`));
      return [
        ...new Set(below.map((path) => path.slice(directory.length + 1).split('/')[0] ?? '')),
      ].toSorted();
    },
  };
}

describe('a tree of /proc and /sys', () => {
  test.for(SYSFS)('$name is read as cAdvisor does', ({files, links, expected}, {expect}) => {
    const machine = parseMachine(filesOf(files, Object.keys(links)));
    expect(machine).toEqual(machineOf(expected.machineInfo));
    expect(discoverCpus(machine)).toEqual(topologyOf(expected.discovered));
  });

  test('that is this machine has CPUs and memory', ({expect}) => {
    const machine = machineReader()();
    expect(discoverCpus(machine).cpus.size).toBe(machine.cpuCount);
    expect(machine.memoryBytes).toBeGreaterThan(0n);
  });
});

test.for([...ORACLE_MACHINES])(
  'the CPUs of %s are discovered as by a kubelet',
  ([, {machineInfo, discovered}], {expect}) => {
    expect(discoverCpus(machineOf(machineInfo))).toEqual(topologyOf(discovered));
  },
);

const MEMINFO = 'MemTotal: 1024 kB\nSwapTotal: 0 kB\n';
const CPU0 = '/sys/devices/system/cpu/cpu0';

describe('a machine', () => {
  test('without memory is an error', ({expect}) => {
    expect(() => parseMachine(filesOf({'/proc/meminfo': 'none'}))).toThrow(
      new SystemError('failed to match regexp in output: "none"'),
    );
  });

  test('without CPUs is an error for who needs them', ({expect}) => {
    const machine = parseMachine(filesOf({'/proc/meminfo': MEMINFO}));
    expect(() => discoverCpus(machine)).toThrow(new SystemError('could not detect number of cpus'));
  });

  test('whose files are not numbers is an error', ({expect}) => {
    const files = {
      '/proc/meminfo': MEMINFO,
      [`${CPU0}/topology/core_id`]: 'x',
      [`${CPU0}/topology/physical_package_id`]: '0',
    };
    expect(() => parseMachine(filesOf(files))).toThrow(
      new SystemError('strconv.Atoi: parsing "x": invalid syntax'),
    );
  });

  test('whose caches cannot be understood has none', ({expect}) => {
    const files = {
      '/proc/meminfo': MEMINFO,
      [`${CPU0}/topology/core_id`]: '0',
      [`${CPU0}/topology/physical_package_id`]: '0',
      [`${CPU0}/cache/index0/id`]: '0',
      [`${CPU0}/cache/index0/size`]: '32K',
      [`${CPU0}/cache/index0/level`]: '1',
      [`${CPU0}/cache/index0/type`]: 'Data',
      [`${CPU0}/cache/index0/shared_cpu_map`]: 'zz',
    };
    expect(parseMachine(filesOf(files)).numaNodes[0]?.cores[0]?.caches).toEqual([]);
  });
});
