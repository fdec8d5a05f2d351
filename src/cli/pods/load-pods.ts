import type {ApiObjects, NodeAndRuntime, PreparedPod} from '../../kubelet/index.js';
import type {ManifestSource} from '../../operations/manifests/read-manifests.js';
import type {CommandServices} from '../command/command-services.js';
import {manifestOverrides} from '../flags/manifest-flags.js';
import type {PodFlagValues} from '../flags/pod-flags.js';
import {readCommandNode, openNodeCredentials} from './read-command-node.js';

/** Pods from manifests, and their node. */
export interface LoadedPods {
  readonly node: NodeAndRuntime;
  readonly pods: readonly PreparedPod[];
  /** Objects that the pods refer to. */
  readonly objects: ApiObjects;
}

/** Values of the flags that determine how manifests are read. */
export interface ManifestFlagValues extends PodFlagValues {
  readonly static?: boolean | undefined;
  readonly lenient?: boolean | undefined;
}

/**
 * Reads and prepares pods, then describes their node. Errors in manifests are reported before the runtime is called.
 * Rejects with ConfigError and PodValidationError.
 */
export async function loadPods(
  services: CommandServices,
  sources: readonly ManifestSource[],
  flags: ManifestFlagValues,
  describe: () => Promise<NodeAndRuntime> = async () => await readCommandNode(services, flags),
): Promise<LoadedPods> {
  const [{readManifests}, {ManifestEditor}, {preparePods, secretValuesOf}, {createReloadingObjects}] =
    await Promise.all([
      import('../../operations/manifests/read-manifests.js'),
      import('../../operations/manifests/manifest-overrides.js'),
      import('../../kubelet/index.js'),
      import('../input/reloading-objects.js'),
    ]);
  const {context, report, secrets, signal} = services;
  const editor = new ManifestEditor(manifestOverrides(flags));
  const reading = {stdin: context.stdin, lenient: flags.lenient ?? false, edit: editor.edit, signal};
  const manifests = await readManifests(sources, reading);
  editor.assertUsed();
  const hide = (values: readonly string[]): void => {
    secrets.add(values);
  };
  hide(manifests.objects.flatMap(({object}) => secretValuesOf(object)));
  for (const warning of manifests.warnings) report.warn(warning);
  for (const note of manifests.notes) report.info(`kcri: ${note}`);
  const objects = createReloadingObjects(sources, manifests, {...reading, warn: report.warn, hide});
  const options = {static: flags.static ?? false, seenAtMs: context.clock.now(), objects};
  // Rejects unsupported fields before a connection is made; the node's name is only known afterwards.
  preparePods(manifests.pods, {...options, nodeName: 'node'});
  const imageCredentials = await openNodeCredentials(services, flags);
  const node = {...(await describe()), imageCredentials};
  const pods = preparePods(manifests.pods, {...options, nodeName: node.node.nodeName});
  return {node, pods, objects};
}
