import {readFileSync, readdirSync} from 'node:fs';
import {join} from 'node:path';
import type {NodeFacts} from '../../src/kubelet/container/node.js';
import type {CanonicalLine} from './canon.js';
import type {GoldenWorld} from './canon-labels.js';

const TRACES = join(import.meta.dirname, 'traces');

/** The names of all recorded cases. */
export const GOLDEN_CASES: readonly string[] = readdirSync(TRACES).sort();

/** Where a case's manifest finds what it mounts from the node. */
export const SCRATCH_DIR = '/scratch';

/** One recorded case. */
export interface GoldenCase {
  /** With its placeholders replaced. */
  readonly manifest: string;
  readonly lines: readonly CanonicalLine[];
}

/** Reads a case: its manifest, with `scratchDir` for the directory it was recorded in, and what the kubelet did. */
export function readGoldenCase(name: string, scratchDir = SCRATCH_DIR): GoldenCase {
  const read = (file: string): string => readFileSync(join(TRACES, name, file), 'utf8');
  return {
    manifest: read('pod.yaml').replaceAll('@HOST@', `${scratchDir}/host`).replaceAll('@KL@', scratchDir),
    lines: read('canon.jsonl')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as CanonicalLine),
  };
}

/** The node that the kubelet was recorded on. */
export const GOLDEN_NODE: NodeFacts = {
  nodeName: 'goldennode',
  nodeIps: ['192.0.2.2'],
  cpuMilli: 2000n,
  memoryBytes: 25_276_502_016n,
  ephemeralStorageBytes: 100_000_000_000n,
  hugePageSizes: ['2MB', '1GB'],
  clusterDns: ['10.96.0.10'],
  clusterDomain: 'cluster.local',
  resolvConf: {nameservers: ['192.0.2.53'], searches: ['example.test'], options: ['ndots:2']},
  cgroup: {version: 1, driver: 'cgroupfs', root: '', swapAccounting: true},
  rootDir: '/var/lib/golden',
  podLogsDir: '/var/log/golden-pods',
  seccompDefault: false,
  appArmorEnabled: false,
  kernelRelease: '6.12.0',
  allowedUnsafeSysctls: [],
  podPidsLimit: undefined,
  labels: {
    'kubernetes.io/hostname': 'goldennode',
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': 'amd64',
  },
  runtime: {handlers: new Map(), supplementalGroupsPolicy: true},
  selinuxEnabled: false,
  thermalThrottlePaths: [],
  hostsFile: '127.0.0.1 localhost\n',
};

/** What is particular to a run on that node; `images` maps the runtime's image ids to tags. */
export function goldenWorld(
  node: NodeFacts,
  podIps: readonly string[],
  images: ReadonlyMap<string, string>,
): GoldenWorld {
  return {
    nodeName: node.nodeName,
    nodeIp: node.nodeIps[0] ?? '',
    rootDir: node.rootDir,
    logsDir: node.podLogsDir,
    cgroupRoot: node.cgroup.root,
    scratchDir: SCRATCH_DIR,
    podIps,
    images,
  };
}
