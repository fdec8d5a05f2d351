import {readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import type {Pod} from '../../src/api/types/v1-pod.js';
import {
  parseSentConfig,
  toComparableConfig,
  type ConfigName,
} from '../../src/kubelet/managers/kuberuntime/config/sent-config.js';
import {generatePodSandboxConfig} from '../../src/kubelet/managers/kuberuntime/config/sandbox-config.js';
import {
  explainCallFields,
  explainConfig,
} from '../../src/kubelet/managers/kuberuntime/provenance/call-rules.js';
import {
  joinPath,
  type PathSegment,
  type ValueSource,
} from '../../src/kubelet/managers/kuberuntime/provenance/provenance.js';
import {leavesOf, type ExplainedField} from '../../src/kubelet/managers/kuberuntime/provenance/rule-tree.js';
import {KcriError} from '../../src/base/errors.js';
import type {Json} from '../../src/format/json.js';
import {findContainer} from '../../src/api/pod-containers.js';
import {containerConfig, staticPods} from './build-configs.js';
import type {CanonicalCall, JsonObject} from '../../src/recording/canonical/canonical-calls.js';
import {GOLDEN_CASES, GOLDEN_NODE, readGoldenCase} from './golden-cases.js';

/** Texts that would explain nothing. */
const FILLER = /^(?:|unknown|by the kubelet|managers of the node)$/;

const FILES = ['pod.yaml', ...['pod2', 'update', 'second', 'b'].map((name) => `${name}.yaml`)];

function podsOf(name: string): readonly Pod[] {
  const golden = readGoldenCase(name);
  const files = golden.actions.flatMap(([, verb, file]) =>
    verb === 'add' || verb === 'update' ? [file ?? ''] : [],
  );
  return [golden.manifest, ...[...new Set([...files, ...FILES])].map((file) => golden.file(file))]
    .filter((text) => text.trim() !== '')
    .flatMap((text) => staticPods(text));
}

/** Calls that the kubelet makes for a request to its API, or to rotate a log, and not for a sync. */
const NOT_OF_SYNCS = new Set(['Exec', 'Attach', 'PortForward']);

/** Returns the pod and the container that a recorded call concerns: `<C:pod/container/0>`. */
function subjectOf({method, req}: CanonicalCall): {
  readonly pod: string;
  readonly container: string | undefined;
} {
  const id = JSON.stringify(req['container_id'] ?? req['pod_sandbox_id'] ?? '').slice(1, -1);
  const [, pod = '', container] = /^<(?:C|SB):([^/#]*)[^/]*\/(?:([^/]*)\/)?\d+>$/.exec(id) ?? [];
  const config = (method === 'PullImage' ? req['sandbox_config'] : req['config']) as JsonObject | undefined;
  const metadata = config?.['metadata'] as {readonly name?: string} | undefined;
  if (method === 'CreateContainer') return {pod, container: metadata?.name};
  return {pod: pod === '' ? (metadata?.name ?? '').replace('-<NODE>', '') : pod, container};
}

const AS_RUN_POD_SANDBOX = 'sandbox_config';

const recorded = GOLDEN_CASES.filter((name) => readGoldenCase(name).lines.some((line) => 'method' in line));

describe('every field of every recorded call has an explanation', () => {
  test.each(recorded)('%s', (name) => {
    const pods = podsOf(name);
    const calls = readGoldenCase(name).lines.filter((line) => 'method' in line);
    const missing = calls
      .filter(({method}) => !NOT_OF_SYNCS.has(method))
      .flatMap((call) => {
        const {pod: podName, container} = subjectOf(call);
        const pod = pods.find(({metadata}) => metadata.name?.replace('-goldennode', '') === podName);
        const facts = {pod: pod ?? pods[0]!, node: GOLDEN_NODE};
        const explained = explainCallFields({method: call.method, request: call.req, container}, facts);
        const known = new Set(
          explained.filter(({text}) => !FILLER.test(text)).map(({path}) => joinPath(path)),
        );
        return leavesOf(call.req as Json)
          .map(({path}) => joinPath(path))
          .filter((path) => path !== AS_RUN_POD_SANDBOX && !known.has(path))
          .map((path) => `${call.method} ${path}`);
      });

    expect([...new Set(missing)]).toEqual([]);
  });
});

/** Names of the node's facts in explanations, where they have others in the configuration. */
const FACT_NAMES: Readonly<Record<string, string>> = {
  rootDir: '--root-dir',
  'cgroup.driver': 'cgroupDriver',
  'cgroup.root': 'cgroupRoot',
  clusterDns: 'clusterDNS',
  resolvConf: 'resolv.conf of the host',
};

type GoldenNode = typeof GOLDEN_NODE;

/** Nodes in each of which one fact differs from that of the recording. */
const OTHER_NODES: Readonly<Record<string, GoldenNode>> = {
  nodeName: {...GOLDEN_NODE, nodeName: 'other'},
  memoryBytes: {...GOLDEN_NODE, memoryBytes: 100_000_000n},
  cpuMilli: {...GOLDEN_NODE, cpuMilli: 7000n},
  hugePageSizes: {...GOLDEN_NODE, hugePageSizes: ['64KB', '1GB']},
  clusterDns: {...GOLDEN_NODE, clusterDns: ['10.96.0.99']},
  clusterDomain: {...GOLDEN_NODE, clusterDomain: 'other.test'},
  resolvConf: {
    ...GOLDEN_NODE,
    resolvConf: {nameservers: ['192.0.2.99'], searches: ['other.test'], options: []},
  },
  'cgroup.version': {...GOLDEN_NODE, cgroup: {...GOLDEN_NODE.cgroup, version: 2}},
  'cgroup.driver': {...GOLDEN_NODE, cgroup: {...GOLDEN_NODE.cgroup, driver: 'systemd'}},
  'cgroup.root': {...GOLDEN_NODE, cgroup: {...GOLDEN_NODE.cgroup, root: '/other'}},
  rootDir: {...GOLDEN_NODE, rootDir: '/other'},
  podLogsDir: {...GOLDEN_NODE, podLogsDir: '/other'},
  seccompDefault: {...GOLDEN_NODE, seccompDefault: true},
  selinuxEnabled: {...GOLDEN_NODE, selinuxEnabled: true},
  hostIps: {...GOLDEN_NODE, hostIps: {current: ['192.0.2.99']}},
  thermalThrottlePaths: {...GOLDEN_NODE, thermalThrottlePaths: ['/sys/x']},
};

type Configs = ReadonlyMap<string, Json>;

/** Returns the configs of the sandbox and all containers of a pod; undefined if it cannot have any. */
function configsOf(pod: Pod, node: GoldenNode): Configs | undefined {
  const ids = {image: {image: 'sha256:1'}};
  try {
    const sandbox = toComparableConfig('PodSandboxConfig', generatePodSandboxConfig(pod, node, 0));
    const containers = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].map(
      ({name}): [string, Json] => [
        name,
        toComparableConfig(
          'ContainerConfig',
          containerConfig(pod, {config: {metadata: {name}, ...ids}}, node),
        ),
      ],
    );
    return new Map([['', sandbox], ...containers]);
  } catch (error) {
    if (!(error instanceof KcriError)) throw error;
    return undefined;
  }
}

/** Returns the paths and values of a config. */
function valuesOf(config: Json): ReadonlyMap<string, string> {
  return new Map(leavesOf(config).map(({path, value}) => [joinPath(path), JSON.stringify(value)]));
}

/** Returns the paths at which a config has another value, or no longer one. */
function changedPaths(before: Json, after: Json | undefined): readonly string[] {
  const now = valuesOf(after ?? {});
  return [...valuesOf(before)].flatMap(([path, value]) => (now.get(path) === value ? [] : [path]));
}

/** Returns whether an input is the field, a part of it, or a whole that contains it. */
function covers(source: ValueSource, field: string): boolean {
  const [name, path] = [source.name, field].map((text) => text.replaceAll(/\[\d+\]/g, '[*]'));
  const [inPath, inName] = [path!.startsWith(name!), name!.startsWith(path!)];
  return (source.kind === 'manifest' || source.kind === 'default') && (inPath || inName);
}

function changed(value: Json): readonly (Json | undefined)[] {
  if (typeof value === 'number') return [value + 1, undefined];
  if (typeof value === 'boolean') return [!value];
  if (Array.isArray(value)) {
    const items = value as readonly Json[];
    return [[...items.slice(0, -1), ...items.slice(-1).flatMap((item) => changed(item)[0] ?? [])], undefined];
  }
  if (typeof value === 'object') return [undefined];
  return [`${String(value)}1`, undefined];
}

function withValue(
  root: Json,
  [segment, ...rest]: readonly PathSegment[],
  value: Json | undefined,
): Json | undefined {
  if (segment === undefined) return value;
  if (Array.isArray(root))
    return (root as readonly Json[]).map(
      (item, index) => (index === segment ? withValue(item, rest, value) : item) as Json,
    );
  const {[segment]: old, ...others} = root as Readonly<Record<PathSegment, Json>>;
  const member = withValue(old ?? null, rest, value);
  return member === undefined ? others : {...(root as object), [segment]: member};
}

/** Fields without which there is no pod. */
const REQUIRED = /^metadata\.(?:name|namespace|uid)$/;

/** Fields that identify a container: with another value there is another container. */
const IDENTITY =
  /^spec\.\w+\[\d+\]\.name$|^spec\.volumes\[\d+\]\.name$|\.volumeMounts\[\d+\]\.(?:name|mountPath)$|\.env\[\d+\]\.name$|^metadata\.annotations\[kubernetes\.io/;

function explainAll(pod: Pod, configs: Configs): ReadonlyMap<string, readonly ExplainedField[]> {
  const facts = {pod, node: GOLDEN_NODE};
  return new Map(
    [...configs].map(([name, config]) => [name, explainConfig(config, facts, findContainer(pod, name))]),
  );
}

const PODS = recorded.flatMap((name) =>
  podsOf(name).map((pod): [string, Pod] => [`${name}: ${pod.metadata.name ?? ''}`, pod]),
);

describe('an explanation names every input that would change the value', () => {
  test.each(PODS)('%s', (_name, pod) => {
    const configs = configsOf(pod, GOLDEN_NODE);
    if (configs === undefined) return;
    const explained = explainAll(pod, configs);
    const missing: string[] = [];
    const compare = (
      others: Configs | undefined,
      field: string,
      isNamed: (source: ValueSource) => boolean,
    ): void => {
      for (const [name, config] of others === undefined ? [] : configs)
        for (const path of changedPaths(config, others?.get(name))) {
          const sources = explained.get(name)?.find((each) => joinPath(each.path) === path)?.sources ?? [];
          if (!sources.some(isNamed)) missing.push(`${name} ${path} depends on ${field}`);
        }
    };
    for (const {path, value} of leavesOf(pod as unknown as Json)) {
      const field = joinPath(path);
      if (IDENTITY.test(field) || path[0] === 'status') continue;
      for (const other of REQUIRED.test(field) ? changed(value).slice(0, 1) : changed(value)) {
        const others = configsOf(
          withValue(pod as unknown as Json, path, other) as unknown as Pod,
          GOLDEN_NODE,
        );
        compare(others, field, (source) => covers(source, field));
      }
    }
    for (const [fact, node] of Object.entries(OTHER_NODES))
      compare(configsOf(pod, node), fact, ({name}) => name === fact || name === FACT_NAMES[fact]);

    expect([...new Set(missing)]).toEqual([]);
  });
});

interface LeftConfig {
  readonly config: object;
}

interface LeftNodeFile {
  readonly sandboxes: readonly LeftConfig[];
  readonly containers: readonly LeftConfig[];
  readonly pods: readonly (Pod & JsonObject)[];
}

describe('every field of the configs that another kubelet left has an explanation', () => {
  const left = JSON.parse(
    readFileSync(new URL('handover/left-node.json', import.meta.url), 'utf8'),
  ) as LeftNodeFile;

  function unexplained({config}: LeftConfig, name: ConfigName): readonly string[] {
    const sent = parseSentConfig(name, {info: JSON.stringify({config})})!;
    const {labels = {}} = sent as {readonly labels?: Readonly<Record<string, string>>};
    const pod = left.pods.find(({metadata}) => metadata.name === labels['io.kubernetes.pod.name'])!;
    const container = findContainer(pod, labels['io.kubernetes.container.name'] ?? '');
    const known = new Set(
      explainConfig(sent, {pod, node: GOLDEN_NODE}, container)
        .filter(({text}) => !FILLER.test(text))
        .map(({path}) => joinPath(path)),
    );
    return leavesOf(sent)
      .map(({path}) => joinPath(path))
      .filter((path) => !known.has(path));
  }

  test('sandboxes', () => {
    expect(left.sandboxes.flatMap((sandbox) => unexplained(sandbox, 'PodSandboxConfig'))).toEqual([]);
  });

  test('containers', () => {
    expect(left.containers.flatMap((container) => unexplained(container, 'ContainerConfig'))).toEqual([]);
  });
});
