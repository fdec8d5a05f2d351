import type {Connection} from '../cri/index.js';
import type {ApiObjects, DescribedNode, NodeCredentials, PreparedPod} from '../kubelet/index.js';
import type {ManifestSource} from '../operations/read-manifests.js';
import {BaseCommand} from './base-command.js';
import {nodeOptions, type PodFlagValues} from './pod-flags.js';

/** Pods that were read, and the node that they are for. */
export interface LoadedPods {
  readonly node: DescribedNode;
  readonly pods: readonly PreparedPod[];
  /** What they refer to. */
  readonly objects: ApiObjects;
}

/** How manifests are read. */
export interface ManifestFlagValues extends PodFlagValues {
  readonly static?: boolean | undefined;
  readonly lenient?: boolean | undefined;
}

/** What commands on pods share: manifests, the node, the pods of the root directory. */
export abstract class PodCommand extends BaseCommand {
  /** The node that this command works on, as the flags and the runtime (the settings' one by default) describe it. */
  protected async describeNode(flags: PodFlagValues = {}, connection?: Connection): Promise<DescribedNode> {
    const {describeNode} = await import('../kubelet/index.js');
    const {clock, cgroupMount} = this.context;
    return await describeNode(
      connection ?? (await this.cri()),
      {...nodeOptions(flags, this.rootDir), cgroupMount},
      {clock, signal: this.signal},
    );
  }

  /** Reads manifests before the runtime is asked for anything: what is wrong with them is told first. */
  protected async loadPods(
    sources: readonly ManifestSource[],
    flags: ManifestFlagValues,
  ): Promise<LoadedPods> {
    const [{readManifests}, {preparePods, secretTexts}, {liveObjects}] = await Promise.all([
      import('../operations/read-manifests.js'),
      import('../kubelet/index.js'),
      import('./live-objects.js'),
    ]);
    const {stdin, clock} = this.context;
    const reading = {stdin, lenient: flags.lenient ?? false, signal: this.signal};
    const manifests = await readManifests(sources, reading);
    const hide = (values: readonly string[]): void => {
      this.hide(values);
    };
    hide(manifests.objects.flatMap(({object}) => secretTexts(object)));
    const warn = (message: string): void => void this.warn(message);
    for (const warning of manifests.warnings) warn(warning);
    const documents = manifests.pods;
    const objects = liveObjects(sources, manifests, {...reading, warn, hide});
    const prepare = {static: flags.static ?? false, seenAtMs: clock.now(), objects};
    // Refuses fields before anything is connected to; the node's name is only known afterwards.
    preparePods(documents, {...prepare, nodeName: 'node'});
    const imageCredentials = await this.openNodeCredentials(flags);
    const node = {...(await this.describeNode(flags)), imageCredentials};
    const pods = preparePods(documents, {...prepare, nodeName: node.node.nodeName});
    return {node, pods, objects};
  }

  /** The credentials for registries that this node has. Rejects with ConfigError. */
  protected async openNodeCredentials(flags: PodFlagValues): Promise<NodeCredentials> {
    const {openNodeCredentials} = await import('../kubelet/index.js');
    const {env, clock} = this.context;
    return await openNodeCredentials(
      {
        imageCredentialProviderConfig: flags['image-credential-provider-config'],
        imageCredentialProviderBinDir: flags['image-credential-provider-bin-dir'],
        rootDir: this.rootDir,
        env,
      },
      clock,
    );
  }
}
