import {whyNotMounted} from '../../../../api/csi-migration/in-tree-volumes.js';
import {translateInlineVolume} from '../../../../api/csi-migration/migrated-volume.js';
import {REMOVED_VOLUME_SOURCES, type PersistentVolume} from '../../../../api/types/v1-persistent-volumes.js';
import type {Pod} from '../../../../api/types/v1-pod.js';
import type {Volume, VolumeSource} from '../../../../api/types/v1-volumes.js';
import {volumeUses} from '../../../../api/used-volumes.js';
import {SystemError} from '../../../../base/errors.js';
import type {ApiObjects} from '../../../contract/api-objects.js';
import type {ClaimedVolume} from '../../../contract/volumes/claimed-volume.js';
import type {ExpandOptions, VolumeExpansion} from '../../../contract/volumes/csi-volumes.js';
import type {NodeFacts} from '../../../contract/node-facts.js';
import type {PlannedFile} from '../../../contract/pod-filesystem.js';
import {podRef} from '../../../contract/pod-ref.js';
import {claimDirectory} from './claim-directory.js';
import {configMap} from './config-map.js';
import {csiBlockVolume, csiVolume, inlineCsiVolume} from './csi-volume.js';
import {downwardApi} from './downward-api.js';
import {emptyDir} from './empty-dir.js';
import {fcBlockVolume, fcVolume} from './fc/fc-volume.js';
import {flexVolume} from './flex/flex-volume.js';
import {hostPath} from './host-path.js';
import {imageVolume} from './image-volume.js';
import {iscsiBlockVolume, iscsiVolume} from './iscsi/iscsi-volume.js';
import {localBlockVolume} from './local-block-volume.js';
import {localVolume} from './local-volume.js';
import {nfs} from './nfs.js';
import {projected} from './projected.js';
import {secret} from './secret.js';
import type {MeasuringHost, PodVolume, VolumeHost, VolumePlugin} from './volume-plugin.js';
import {NoPluginError} from '../no-plugin-error.js';
import {VolumeStepError} from '../volume-step-error.js';

type Sources = Required<VolumeSource>;

/** Supported volume plugins by volume type. */
const PLUGINS = {
  configMap,
  csi: inlineCsiVolume,
  downwardAPI: downwardApi,
  emptyDir,
  fc: fcVolume,
  flexVolume,
  hostPath,
  image: imageVolume,
  iscsi: iscsiVolume,
  nfs,
  persistentVolumeClaim: claimDirectory,
  projected,
  secret,
} as const satisfies {readonly [Kind in keyof Sources]?: VolumePlugin<Sources[Kind]>};

type Kind = keyof typeof PLUGINS;

/** A volume of a pod with its plugin. */
export interface ResolvedVolume {
  /** Name for messages: that of the PersistentVolume, if there is one. */
  readonly name: string;
  /** Name of the plugin in metrics. */
  readonly plugin: string;
  /** Name of its CSI driver; undefined for other volumes. */
  readonly driver: string | undefined;
  /** True for a volume of an in-tree kind that a CSI driver replaced. */
  readonly isMigrated?: boolean | undefined;
  /** True if a program or a server outside of kcri can hold up its operations. */
  readonly canHang: boolean;
  readonly readOnly: boolean;
  /** True if containers get the volume as a block device. */
  readonly isBlock: boolean;
  /** Reports whether a mounted volume is set up again at each sync. */
  requiresRemount(host: VolumeHost): boolean;
  /** Reports whether the SELinux labels of the mounted volume must not change. */
  keepsLabels(host: VolumeHost): boolean;
  /** See MountedVolume. */
  readonly groupId?: bigint | undefined;
  path(node: Pick<NodeFacts, 'rootDir'>): string;
  /** Checks the volume before setUp; rejects with the step and the kubelet's message. */
  check(): Promise<void>;
  setUp(host: VolumeHost, signal: AbortSignal): Promise<void>;
  /** True if `expand` has something to look at. */
  readonly isExpandable: boolean;
  /** Enlarges the volume; see VolumePlugin. */
  expand(host: VolumeHost, options: ExpandOptions): Promise<boolean>;
  /** Reports whether its usage is that of its filesystem, as a driver says. */
  isMeasured(host: MeasuringHost): boolean;
  plan(host: VolumeHost): Promise<readonly PlannedFile[]>;
}

/**
 * Returns a volume with its plugin; without a source it is an emptyDir. Throws SystemError for an unsupported type and
 * for a claim that cannot be used.
 */
export function resolveVolume(pod: Pod, volume: Volume, objects: ApiObjects): ResolvedVolume {
  const claimed = objects.claimedVolume?.(pod, volume);
  if (claimed !== undefined) return resolveClaimed(pod, volume.name, claimed);
  const {name, ...sources} = volume;
  if (volumeUses(pod).devices.has(name))
    throw new SystemError(`volume ${name} is specified in volumeDevices, but has no block device`, {
      hint: 'add a PersistentVolume with volumeMode Block for its claim to the manifests',
    });
  const migrated = translateInlineVolume(volume, podRef(pod).namespace);
  if (migrated !== undefined)
    return {...bind(csiVolume, {pod, specName: name, isMigrated: true, ...migrated}), isMigrated: true};
  const [kind = 'emptyDir'] = Object.keys(sources);
  if (!isKind(kind))
    throw new SystemError(`cannot mount the volume "${name}": ${kind} volumes are not supported`, {
      hint: `use one of ${Object.keys(PLUGINS).join(', ')}`,
    });
  const source = sources[kind] ?? {};
  const readOnly = 'readOnly' in source && source.readOnly;
  return bind(PLUGINS[kind] as VolumePlugin<Sources[Kind]>, {pod, name, source, readOnly});
}

function isKind(kind: string): kind is Kind {
  return Object.hasOwn(PLUGINS, kind);
}

function resolveClaimed(pod: Pod, specName: string, claimed: ClaimedVolume): ResolvedVolume {
  const {volume, readOnly, isMigrated} = claimed;
  const {metadata, spec} = volume;
  const {name = ''} = metadata;
  const {accessModes = []} = spec;
  const common = {
    pod,
    name,
    specName,
    readOnly,
    mountOptions: mountOptionsOf(volume),
    accessModes,
    expansion: expansionOf(claimed),
    isMigrated,
  };
  const bound = spec.volumeMode === 'Block' ? bindBlockSource(volume, common) : bindSource(volume, common);
  return withClaimChecks({...bound, isMigrated, groupId: groupIdOf(metadata.annotations)}, claimed);
}

/** Returns the group that an annotation gives to processes that use a volume; undefined without a valid one (VolumeGidAnnotationKey). */
function groupIdOf(annotations: Readonly<Record<string, string>> = {}): bigint | undefined {
  const group = annotations['pv.beta.kubernetes.io/gid'] ?? '';
  return /^[+-]?\d{1,18}$/.test(group) ? BigInt(group.replace('+', '')) : undefined;
}

/** Returns the sizes of a volume that has one, and a claim. */
function expansionOf({volume, claimSize}: ClaimedVolume): VolumeExpansion | undefined {
  const {capacity, claimRef} = volume.spec;
  const size = capacity?.['storage'];
  const {namespace, name} = claimRef ?? {};
  if (size === undefined || namespace === undefined || name === undefined) return undefined;
  return {claim: {namespace, name}, size, claimSize};
}

function bindBlockSource(
  {spec: {local, iscsi, fc, csi}}: PersistentVolume,
  common: Omit<PodVolume<unknown>, 'source'>,
): ResolvedVolume {
  if (local !== undefined) return bind(localBlockVolume, {...common, source: local});
  if (iscsi !== undefined) return bind(iscsiBlockVolume, {...common, source: iscsi});
  if (fc !== undefined) return bind(fcBlockVolume, {...common, source: fc});
  if (csi !== undefined) return bind(csiBlockVolume, {...common, source: csi});
  throw new SystemError(
    `MapVolume.FindMapperPluginBySpec failed to find BlockVolumeMapper plugin. Volume plugin is nil. (volume ${JSON.stringify(common.name)})`,
    {hint: 'PersistentVolumes with volumeMode Block must be of the kinds local, iscsi, fc and csi'},
  );
}

function bindSource(volume: PersistentVolume, common: Omit<PodVolume<unknown>, 'source'>): ResolvedVolume {
  const {hostPath: path, local, nfs: nfsSource, iscsi, fc, csi, flexVolume: flex} = volume.spec;
  if (path !== undefined) return bind(hostPath, {...common, source: path});
  if (local !== undefined) return bind(localVolume, {...common, source: local});
  if (nfsSource !== undefined) return bind(nfs, {...common, source: nfsSource});
  if (iscsi !== undefined) return bind(iscsiVolume, {...common, source: iscsi});
  if (fc !== undefined) return bind(fcVolume, {...common, source: fc});
  if (csi !== undefined) return bind(csiVolume, {...common, source: csi});
  if (flex !== undefined) return bind(flexVolume, {...common, source: flex});
  throw new NoPluginError(common.name, undefined, {hint: hintFor(volume)});
}

/** Returns what to use in place of a volume that nothing can mount. */
function hintFor({spec}: PersistentVolume): string {
  const kind = REMOVED_VOLUME_SOURCES.find((name) => spec[name] !== undefined);
  return kind === undefined
    ? 'PersistentVolumes of the kinds hostPath, local, nfs, iscsi, fc, csi and flexVolume are supported'
    : `${kind}: ${whyNotMounted(kind)}`;
}

/** Annotation with mount options, which takes precedence over the field. */
const MOUNT_OPTIONS = 'volume.beta.kubernetes.io/mount-options';

/** Returns the mount options of a PersistentVolume (MountOptionFromSpec). */
function mountOptionsOf({metadata, spec}: PersistentVolume): readonly string[] {
  const annotation = metadata.annotations?.[MOUNT_OPTIONS];
  return annotation === undefined ? (spec.mountOptions ?? []) : annotation.split(',');
}

/** Adds the checks that depend on the PersistentVolume (GenerateMountVolumeFunc), and that its expansion has not ended. */
function withClaimChecks(
  resolved: ResolvedVolume,
  {volume: {spec}, isOnNode, isGrowing = false}: ClaimedVolume,
): ResolvedVolume {
  return {
    ...resolved,
    expand: async (...call) => (await resolved.expand(...call)) && !isGrowing,
    check: async () => {
      if (!isOnNode)
        throw new VolumeStepError(
          `${resolved.isBlock ? 'Map' : 'Mount'}Volume.NodeAffinity check failed`,
          'no matching NodeSelectorTerms',
          {
            hint: 'change spec.nodeAffinity of the PersistentVolume, or label the node with --node-labels',
          },
        );
      await resolved.check();
      if ((spec.hostPath ?? spec.flexVolume) !== undefined && (spec.mountOptions ?? []).length > 0)
        throw new VolumeStepError(
          'MountVolume.MountOptionSupport check failed',
          'Mount options are not supported for this volume type',
        );
    },
  };
}

function bind<Source>(plugin: VolumePlugin<Source>, volume: PodVolume<Source>): ResolvedVolume {
  const driver = plugin.driver?.(volume.source);
  return {
    name: volume.name,
    plugin:
      driver === undefined ? (plugin.nameOf?.(volume.source) ?? plugin.name) : `${plugin.name}:${driver}`,
    driver,
    canHang: driver !== undefined || plugin.canHang === true,
    readOnly: plugin.readOnly || volume.readOnly === true,
    isBlock: plugin.isBlock === true,
    requiresRemount: (host) =>
      plugin.requiresRemount === true || plugin.isRepublished?.(host, volume.source) === true,
    keepsLabels: (host) => plugin.keepsLabels?.(volume, host) === true,
    path: (node) => plugin.path(node, volume),
    check: async () => plugin.check?.(volume),
    setUp: async (host, signal) => plugin.setUp(host, volume, signal),
    isExpandable: plugin.expand !== undefined && volume.expansion !== undefined,
    expand: async (host, options) => (await plugin.expand?.(host, volume, options)) ?? true,
    isMeasured: (host) => plugin.isMeasured?.(volume.source, host) === true,
    plan: async (host) => (await plugin.plan?.(host, volume)) ?? [],
  };
}
