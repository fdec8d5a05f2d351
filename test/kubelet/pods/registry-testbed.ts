import {join} from 'node:path';
import {onTestFinished} from 'vitest';
import {applyPodDefaults} from '../../../src/api/defaults/pod-defaults.js';
import {decodeManifest} from '../../../src/api/manifest/parse-manifest.js';
import type {Pod} from '../../../src/api/types/v1-pod.js';
import {systemClock} from '../../../src/base/clock.js';
import {connect, type Connection} from '../../../src/cri/index.js';
import {toLocalPod} from '../../../src/kubelet/sources/static-pod.js';
import {NO_OBJECTS, type ApiObjects} from '../../../src/kubelet/contract/api-objects.js';
import type {NodeFacts} from '../../../src/kubelet/contract/node-facts.js';
import type {PodEvent} from '../../../src/kubelet/contract/pod-event.js';
import type {PodFilesystem} from '../../../src/kubelet/contract/pod-filesystem.js';
import {PodHistories} from '../../../src/kubelet/pods/history/pod-history.js';
import {PodRegistry} from '../../../src/kubelet/pods/registry/pod-registry.js';
import {SILENT_OBSERVER} from '../../../src/kubelet/pods/registry/pod-registry-options.js';
import {NodePodFilesystem} from '../../../src/kubelet/managers/pod-filesystem/node-pod-filesystem.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {aManifest} from '../../commands/command-testbed.js';
import {FakeRuntime, type FakeRuntimeOptions} from '../../fakes/fake-runtime.js';
import {GOLDEN_NODE} from '../../golden/golden-cases.js';

/** A PodRegistry on a root directory and a fake runtime, without a command line. */
export interface RegistryTestbed {
  readonly runtime: FakeRuntime;
  readonly connection: Connection;
  readonly node: NodeFacts;
  readonly pods: PodRegistry;
  readonly events: readonly PodEvent[];
  readonly histories: PodHistories;
}

/**
 * Starts a testbed that is torn down with the test. `files` may wrap the node's file system, `objects` are
 * the API objects that pods refer to.
 */
export async function startRegistryTestbed(
  options: FakeRuntimeOptions = {},
  files: (real: PodFilesystem) => PodFilesystem = (real) => real,
  objects: ApiObjects = NO_OBJECTS,
): Promise<RegistryTestbed> {
  const directory = await temporaryDirectory();
  const runtime = await FakeRuntime.start(options);
  const connection = connect(runtime.endpoint);
  onTestFinished(async () => {
    connection.close();
    await runtime.stop();
  });
  const node = {...GOLDEN_NODE, rootDir: join(directory, 'root'), podLogsDir: join(directory, 'logs')};
  const events: PodEvent[] = [];
  const histories = new PodHistories(node.rootDir, systemClock);
  const pods = new PodRegistry({
    services: connection,
    node,
    endpoint: runtime.endpoint,
    runtimeName: 'fake',
    clock: systemClock,
    objects,
    histories,
    files: (facts) => files(new NodePodFilesystem(facts, () => runtime.calls.length, systemClock)),
    observer: {...SILENT_OBSERVER, event: (event) => void events.push(event)},
  });
  return {runtime, connection, node, pods, events, histories};
}

/** Returns a Pod as kcri syncs it, from the fields of command-testbed's aManifest. */
export function aLocalPod(fields: Parameters<typeof aManifest>[0] = {}): Pod {
  const [document] = decodeManifest(aManifest(fields), {file: 'pod.yaml'});
  if (document === undefined) throw new Error('the manifest holds no Pod');
  return toLocalPod(applyPodDefaults(document.pod), {
    nodeName: 'node',
    rootDir: '/root',
    seen: '2026-05-01T12:00:00Z',
  });
}
