import type {Pod} from '../../../../api/types/v1-pod.js';
import type {Volume, VolumeSource} from '../../../../api/types/v1-volumes.js';
import {SystemError} from '../../../../base/errors.js';
import type {NodeFacts} from '../../../contract/node-facts.js';
import type {PlannedFile} from '../../../contract/pod-filesystem.js';
import {configMap} from './config-map.js';
import {downwardApi} from './downward-api.js';
import {emptyDir} from './empty-dir.js';
import {hostPath} from './host-path.js';
import {imageVolume} from './image-volume.js';
import {projected} from './projected.js';
import {secret} from './secret.js';
import type {VolumeHost, VolumePlugin} from './volume-plugin.js';

type Sources = Required<VolumeSource>;

/** Supported volume plugins by volume type. */
const PLUGINS = {
  configMap,
  downwardAPI: downwardApi,
  emptyDir,
  hostPath,
  image: imageVolume,
  projected,
  secret,
} as const satisfies {readonly [Kind in keyof Sources]?: VolumePlugin<Sources[Kind]>};

type Kind = keyof typeof PLUGINS;

/** A volume of a pod with its plugin. */
export interface ResolvedVolume {
  readonly readOnly: boolean;
  path(node: Pick<NodeFacts, 'rootDir'>): string;
  setUp(host: VolumeHost): Promise<void>;
  plan(host: VolumeHost): Promise<readonly PlannedFile[]>;
}

/** Returns a volume with its plugin; without a source it is an emptyDir. Throws SystemError for an unsupported type. */
export function resolveVolume(pod: Pod, volume: Volume): ResolvedVolume {
  const {name, ...sources} = volume;
  const [kind = 'emptyDir'] = Object.keys(sources);
  if (!isKind(kind))
    throw new SystemError(`cannot mount the volume "${name}": ${kind} volumes are not supported`, {
      hint: `use one of ${Object.keys(PLUGINS).join(', ')}`,
    });
  return bind(PLUGINS[kind] as VolumePlugin<Sources[Kind]>, pod, name, sources[kind] ?? {});
}

function isKind(kind: string): kind is Kind {
  return Object.hasOwn(PLUGINS, kind);
}

function bind<Source>(plugin: VolumePlugin<Source>, pod: Pod, name: string, source: Source): ResolvedVolume {
  const volume = {pod, name, source};
  return {
    readOnly: plugin.readOnly,
    path: (node) => plugin.path(node, volume),
    setUp: async (host) => plugin.setUp(host, volume),
    plan: async (host) => (await plugin.plan?.(host, volume)) ?? [],
  };
}
