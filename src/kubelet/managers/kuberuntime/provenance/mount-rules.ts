import type {VolumeMount} from '../../../../api/types/v1-pod.js';
import {isObject} from '../../../../base/is-object.js';
import {absoluteContainerPath} from '../config/container-mounts.js';
import {because, named, worded, type Named, type Provenance} from './provenance.js';
import type {RuleLeaf} from './rule-tree.js';
import type {ContainerScope} from './scope.js';

/** Explains a field of a mount: a volumeMount, the hosts file, the termination log, or a mount of a manager. */
export function mountSource(
  scope: ContainerScope,
  {message, below: [index, field, ...rest]}: RuleLeaf,
): Provenance {
  const {mounts = []} = message as {readonly mounts?: readonly {readonly container_path?: string}[]};
  const path = mounts[Number(index)]?.container_path;
  const {volumeMounts = [], terminationMessagePath = ''} = scope.container;
  const at = volumeMounts.findIndex(
    ({mountPath}) => absoluteContainerPath(mountPath) === absoluteContainerPath(path ?? ''),
  );
  const mount = volumeMounts[at];
  if (mount !== undefined) return volumeMount(scope, {mount, at, field: String(field), rest});
  if (field === 'selinux_relabel') return selinux(scope);
  if (String(field).endsWith('Mappings'))
    return because`${scope.run('range of user IDs of this pod')}, ${scope.field('spec', 'hostUsers')}`;
  if (path === '/etc/hosts')
    return because`${scope.rule('hosts file that the kubelet writes for the pod')}${below(scope, field)}`;
  if (terminationMessagePath !== '' && path === absoluteContainerPath(terminationMessagePath))
    return field === 'container_path'
      ? because`${scope.own('terminationMessagePath')}`
      : because`${scope.run('file for this instance')} of ${scope.own('terminationMessagePath')}${below(scope, field)}`;
  return because`${scope.ofManagers()}`;
}

/** Names the directory of the pod, of which a path on the node is a part. */
function below(scope: ContainerScope, field: unknown): Provenance | string {
  if (field !== 'host_path') return '';
  return because`, in the directory of the pod below ${scope.setting('--root-dir', scope.node.rootDir)}${{...scope.field('metadata', 'uid'), text: ''}}`;
}

function selinux(scope: ContainerScope): Provenance {
  return because`${scope.fact('selinuxEnabled', scope.node.selinuxEnabled)}`;
}

interface MountField {
  readonly mount: VolumeMount;
  /** Index in volumeMounts. */
  readonly at: number;
  readonly field: string;
  readonly rest: RuleLeaf['below'];
}

function volumeMount(scope: ContainerScope, {mount, at, field, rest}: MountField): Provenance {
  const of = (name: string): Named => scope.own('volumeMounts', at, name);
  const volume = volumeOf(scope, mount);
  switch (field) {
    case 'container_path':
      return because`${of('mountPath')}`;
    case 'host_path':
      return because`${volume}${subPath(scope, mount, at)}${below(scope, field)}`;
    case 'image':
      return because`${rest[0] === 'annotations' ? scope.field('metadata', ...rest) : volume}`;
    case 'image_sub_path':
      return because`${subPath(scope, mount, at)}`;
    case 'readonly':
      return mount.readOnly === true
        ? because`${of('readOnly')}`
        : because`the kind of ${volume} is read-only`;
    case 'recursive_read_only':
      return because`${of('recursiveReadOnly')}, which the runtime supports: ${scope.fact('runtime.handlers')}`;
    case 'propagation':
      return because`${of('mountPropagation')}`;
    case 'selinux_relabel':
      return because`${selinux(scope)}, and the kind of ${volume}`;
    default:
      return because`${scope.run('range of user IDs of this pod')}, ${scope.field('spec', 'hostUsers')}`;
  }
}

/** Names the volume of a mount with its kind. */
function volumeOf(scope: ContainerScope, {name}: VolumeMount): Named {
  const {volumes = []} = scope.pod.spec;
  const at = volumes.findIndex((volume) => volume.name === name);
  const volume = volumes[at];
  const kind = Object.entries(volume ?? {}).find(([, value]) => isObject(value))?.[0] ?? 'unknown';
  const path = volume?.hostPath?.path;
  const source = scope.field('spec', 'volumes', at);
  const text = named({
    kind: 'manifest',
    name: `volume ${name}, ${kind}`,
    ...(path !== undefined && {value: path}),
  });
  return worded(source, text.text);
}

function subPath(scope: ContainerScope, mount: VolumeMount, at: number): Provenance | string {
  const name = mount.subPathExpr === undefined ? 'subPath' : 'subPathExpr';
  return mount[name] === undefined ? '' : because`, ${scope.own('volumeMounts', at, name)}`;
}
