import {mkdir} from 'node:fs/promises';
import {join} from 'node:path';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {FakeLogind} from '../../fakes/dbus/fake-logind.js';
import {startSystemBus} from '../../fakes/dbus/fake-system-bus.js';
import {BUSYBOX} from '../../fakes/runtime-builders.js';
import {FakeStreamingServer} from '../../fakes/streaming/fake-streaming-server.js';
import type {ClusterTestbed} from '../../kubelet/cluster/cluster-testbed.js';
import {canonicalCalls} from '../../../src/recording/canonical/canonical-calls.js';
import {collectProbeCommands} from '../canonical/collect-probe-commands.js';
import {GOLDEN_NODE, goldenEnvironment} from '../golden-cases.js';
import type {Pod} from '../../../src/api/types/v1-pod.js';
import {
  callsOfPods,
  readApiCase,
  type ApiCase,
  type CanonicalRun,
  type KubeletSettings,
} from './api-cases.js';
import {applyObject} from './api-admission.js';
import {CasePlugins, canonicalPluginCalls} from './case-plugins.js';
import {ApiCasePlayer, injectFault, type RecordedFault} from './api-case-player.js';
import {attachDisk} from './case-disks.js';
import {canonicalPods} from './canonical-api.js';
import {canonicalNode, canonicalReads, otherWrites} from './canonical-node.js';
import {machineOfCase} from './case-machines.js';
import {IMAGE_ID, REGISTRY, settingsOf, startCaseTestbed} from './case-testbed.js';
import {keptFiles} from './kept-files.js';
import {createReplacer, uidLabels, type NamedPod} from './replace-labels.js';
import {endSession} from './server-requests.js';

/** A recorded case and what kcri did in it. */
export interface ApiPlayResult {
  readonly recorded: ApiCase;
  readonly actual: CanonicalRun;
}

const {nodeName} = GOLDEN_NODE;
const SHA256 = /\b[0-9a-f]{64}\b/g;
/** Directory of the plugins' sockets in the recordings. */
const DEVICE_PLUGINS = '/var/lib/kubelet/device-plugins';

/** Plays a case with a fake API server and a fake runtime, as the recorder did with a kubelet. */
export async function playApiCase(name: string, stepMs?: number): Promise<ApiPlayResult> {
  const directory = await temporaryDirectory();
  const host = join(directory, 'host');
  await mkdir(host);
  const devices = join(directory, 'devices');
  await using disk = await attachDisk(name);
  const places = {
    ...{'@HOST@': host, '@REG@': REGISTRY, '@NODE@': nodeName, [DEVICE_PLUGINS]: devices},
    ...(disk && {'@DEVICE@': disk.device}),
  };
  const recorded = readApiCase(name, places);
  await using plugins = new CasePlugins(recorded.plugins ?? {}, devices);
  await using streaming = await FakeStreamingServer.start({handleSession: endSession});
  const machine = machineOfCase(name);
  const hasLogind = recorded.run.logind === true;
  await using bus = hasLogind ? await startSystemBus() : undefined;
  await using logind = bus === undefined ? undefined : await FakeLogind.start(bus.path);
  await using testbed = await startCaseTestbed({
    ...{recorded, machine, directory, devices, stepMs, streamingUrl: streaming.url},
    bus: bus?.address ?? `unix:path=${join(directory, 'no-bus')}`,
    prepare: (api) => {
      for (const [verb, fault] of recorded.run.before ?? [])
        if (verb === 'fault') injectFault(api, fault as RecordedFault);
        else if (verb === 'apply')
          for (const object of recorded.files?.[String(fault)] ?? []) applyObject(api, object, nodeName);
    },
  });
  const {fake} = testbed.daemon;
  fake.injectDelay('RunPodSandbox', 900);
  fake.injectDelay('CreateContainer', 400);
  fake.injectDelay('StartContainer', 300, {afterEffect: true});
  const configure = (changes: KubeletSettings): void => {
    const node = {machine, directory, devices: recorded.plugins && devices};
    testbed.daemon.configure(settingsOf({...recorded.run.kubelet, ...changes}, node).node);
  };
  const player = new ApiCasePlayer(testbed, recorded, {plugins, logind, configure});
  await player.play();
  const pluginCalls: CanonicalRun['pluginCalls'] = Object.fromEntries(
    Object.entries(recorded.plugins ?? {}).map(([plugin, entries]) => [
      plugin,
      canonicalPluginCalls(entries),
    ]),
  );
  return {
    recorded: {...recorded, pluginCalls},
    actual: canonicalRun(testbed, recorded, {player, host, plugins}),
  };
}

function canonicalRun(
  testbed: ClusterTestbed,
  {run}: ApiCase,
  {
    player,
    host,
    plugins,
  }: {readonly player: ApiCasePlayer; readonly host: string; readonly plugins: CasePlugins},
): CanonicalRun {
  const {api, daemon} = testbed;
  const {requests} = api;
  const sandboxes = daemon.fake.callsTo('RunPodSandbox').map(({request}) => metadataOf(request));
  const pods = player.pods().map(({metadata}) => metadata);
  const replace = createReplacer([
    ...uidLabels([...sandboxes, ...pods], nodeName),
    [nodeName, '<NODE>'],
    [GOLDEN_NODE.nodeIps[0] ?? '', '<NODE_IP>'],
    [REGISTRY, '<REGISTRY>'],
    [host, '<HOST>'],
    [daemon.rootDir, '<ROOT>'],
  ]);
  const calls = replace(JSON.stringify(plugins.calls)).replace(SHA256, '<ID>');
  const isAboutNode = run.node === true;
  const node = {...GOLDEN_NODE, rootDir: daemon.rootDir, podLogsDir: daemon.logsDir};
  const environment = {
    ...goldenEnvironment(node, podIpsOf(testbed), new Map([[IMAGE_ID, BUSYBOX]])),
    scratchDir: '',
    substitutes: new Map([
      [host, '<HOST>'],
      [REGISTRY, '<REGISTRY>'],
      ['kube-api-access-abcde', 'kube-api-access-<RAND>'],
    ]),
  };
  const probes = collectProbeCommands(player.pods() as unknown as readonly Pod[]);
  return {
    ...canonicalPods({requests, events: [...testbed.events('Node'), ...testbed.events('Pod')], replace}),
    calls: callsOfPods(canonicalCalls(ownCalls(testbed), environment, probes)),
    reads: canonicalReads(requests, replace, isAboutNode),
    ...(isAboutNode && {node: canonicalNode(requests, replace)}),
    other: otherWrites(requests, replace),
    server: player.answers,
    kept: keptFiles(player.kept, replace),
    pluginCalls: JSON.parse(calls) as CanonicalRun['pluginCalls'],
  };
}

function metadataOf(request: object): NamedPod {
  return (request as {readonly config: {readonly metadata: NamedPod}}).config.metadata;
}

/** Calls after the kubelet's start, without those that configure the runtime. */
function ownCalls({daemon}: ClusterTestbed): ClusterTestbed['daemon']['fake']['calls'] {
  return daemon.fake.calls.filter(({method}) => method !== 'UpdateRuntimeConfig');
}

function podIpsOf({daemon}: ClusterTestbed): readonly string[] {
  return daemon.fake.sandboxes.flatMap(({ips}) => ips);
}
