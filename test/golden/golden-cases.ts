import {existsSync, readFileSync, readdirSync} from 'node:fs';
import {createRequire} from 'node:module';
import {dirname, join} from 'node:path';
import type {NodeFacts} from '../../src/kubelet/contract/node-facts.js';
import type {HostDns} from '../../src/kubelet/managers/network/pod-dns.js';
import type {JsonObject} from '../../src/recording/canonical/canonical-json.js';
import type {CanonicalEvent} from './canonical/canonical-pods.js';
import type {CanonicalLine} from '../../src/recording/canonical/canonical-calls.js';
import type {CallEnvironment} from '../../src/recording/canonical/canonical-labels.js';

/** Independent of where this file was compiled to. */
const TRACES = join(
  dirname(createRequire(import.meta.url).resolve('kcri/package.json')),
  'test/golden/traces',
);

/** Names of all recorded cases. */
export const GOLDEN_CASES: readonly string[] = readdirSync(TRACES).sort();

/** Directory of files that manifests mount from the node. */
export const SCRATCH_DIR = '/scratch';

/** An external action, with its time in seconds after the manifest was added. */
export type GoldenAction = readonly [seconds: number, verb: string, argument?: string];

/** The first line of a manifest, with properties of the recording. */
interface RunHeader {
  readonly settle?: number;
  readonly kubelet?: KubeletHeader;
  readonly sh?: string;
  readonly actions?: readonly GoldenAction[];
}

/** Configuration of the recorded kubelet. */
interface KubeletHeader {
  readonly containerLogMaxSize?: string;
  readonly containerLogMaxFiles?: number;
  readonly containerLogMonitorInterval?: string;
}

/** A recorded case. */
export interface GoldenCase {
  /** The manifest, with placeholders replaced. */
  readonly manifest: string;
  /** Seconds from adding to deleting the manifest. */
  readonly settleSeconds: number;
  /** Shell script that runs before. `$ROOT` is the kubelet's root directory. */
  readonly script: string;
  readonly actions: readonly GoldenAction[];
  readonly kubelet: KubeletHeader;
  readonly lines: readonly CanonicalLine[];
  /** The pods right before their manifests were deleted, by name. */
  readonly pods: readonly JsonObject[];
  readonly events: readonly CanonicalEvent[];
  /** The rejection of the manifest source. Undefined if it accepted everything. */
  readonly rejection: string | undefined;
  /** Returns another file of the case, with placeholders replaced. */
  file(name: string): string;
}

/** Reads a case: its manifest, with `scratchDir` in place of the recorded directory, and the kubelet's results. */
export function readGoldenCase(name: string, scratchDir = SCRATCH_DIR): GoldenCase {
  const read = (file: string): string => {
    const path = join(TRACES, name, file);
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  };
  const replaced = (text: string): string =>
    text.replaceAll('@HOST@', `${scratchDir}/host`).replaceAll('@KL@', scratchDir);
  const manifest = replaced(read('pod.yaml'));
  const [, header = '{}'] = /^# run: (.*)/.exec(manifest) ?? [];
  const {settle = 10, sh = '', actions = [], kubelet = {}} = JSON.parse(header) as RunHeader;
  const pods = (JSON.parse(read('canon.pods.json') || 'null') as {items: readonly JsonObject[] | null} | null)
    ?.items;
  // Quoted as in the kubelet's log.
  const refusal = read('canon.errors.txt').trimEnd().replaceAll('\\\\', '\\');
  return {
    manifest,
    settleSeconds: settle,
    script: sh,
    actions,
    kubelet,
    lines: jsonLines(read('canon.jsonl')) as CanonicalLine[],
    pods: pods ?? [],
    events: jsonLines(read('canon.events.jsonl')) as CanonicalEvent[],
    rejection: refusal === '' ? undefined : refusal,
    file: (file) => replaced(read(file)),
  };
}

function jsonLines(text: string): unknown[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown);
}

const RESOLV_CONF = {nameservers: ['192.0.2.53'], searches: ['example.test'], options: ['ndots:2']};

/** The node of the recorded kubelet. */
export const GOLDEN_NODE: NodeFacts & HostDns = {
  nodeName: 'goldennode',
  nodeIps: ['192.0.2.2'],
  hostIps: {current: ['192.0.2.2']},
  cpuMilli: 2000n,
  memoryBytes: 25_276_502_016n,
  ephemeralStorageBytes: 100_000_000_000n,
  hugePageSizes: ['2MB', '1GB'],
  hugePageBytes: new Map([
    ['2MB', 0n],
    ['1GB', 0n],
  ]),
  clusterDns: ['10.96.0.10'],
  clusterDomain: 'cluster.local',
  resolvConf: RESOLV_CONF,
  readResolvConf: async () => RESOLV_CONF,
  cgroup: {version: 1, driver: 'cgroupfs', root: '', swapAccounting: true},
  rootDir: '/var/lib/golden',
  podLogsDir: '/var/log/golden-pods',
  seccompDefault: false,
  cgroupMount: undefined,
  appArmorEnabled: false,
  kernelRelease: '6.12.0',
  allowedUnsafeSysctls: [],
  podPidsLimit: undefined,
  labels: {
    'kubernetes.io/hostname': 'goldennode',
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': 'amd64',
  },
  runtime: {
    handlers: new Map([['', {userNamespaces: false, recursiveReadOnlyMounts: true}]]),
    supplementalGroupsPolicy: true,
  },
  selinuxEnabled: false,
  thermalThrottlePaths: [],
  readHostsFile: async () => '127.0.0.1 localhost\n',
};

/** Returns the environment of a run on that node. `images` maps the runtime's image IDs to tags. */
export function goldenEnvironment(
  node: NodeFacts,
  podIps: readonly string[],
  images: ReadonlyMap<string, string>,
): CallEnvironment {
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
