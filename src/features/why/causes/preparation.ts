import {shellQuote} from '../../../base/shell-quote.js';
import type {ContainerStatus} from '../../../api/types/v1-status.js';
import type {Finding} from '../finding.js';
import type {PodSnapshot} from '../snapshot/pod-snapshot.js';
import {HOST_PORT_TAKEN, wantedHolders} from '../snapshot/wanted-holders.js';
import {holderText, isPath, isPort} from './holders.js';
import {explainMessage, quoteMessage, type MessagePattern} from './message-patterns.js';
import {clockText, describeAdvice, eventsOf, eventText} from './subject.js';

/** Events of the pod that tell why its volumes or its sandbox are not there. */
const REASONS = [
  'FailedMount',
  'FailedAttachVolume',
  'FailedMapVolume',
  'FailedCreatePodSandBox',
  'FailedPodSandBoxStatus',
  'FailedKillPod',
  'NetworkNotReady',
  'FailedPrepareDynamicResources',
  'FailedScheduling',
  'FailedCreatePodContainer',
];

const START_DRIVER =
  'start the driver on this node, or check its pod; its registration socket must be in the directory plugins_registry of the kubelet';

/** Cause of a volume that the node cannot enlarge. */
export const NOT_EXPANDED: MessagePattern<PodSnapshot> = {
  rule: 'volume-not-expanded',
  pattern: /failed while expanding volume for volume "([^"]+)" ?: (.*)/s,
  cause: ([, volume = '', why = '']) => `volume ${volume} cannot be enlarged on this node: ${why.trim()}`,
  tries: () => [
    'check the log of the CSI driver on this node, and the conditions of the PersistentVolumeClaim',
  ],
};

/** Causes of volumes and sandboxes that cannot be prepared. */
const PATTERNS: readonly MessagePattern<PodSnapshot>[] = [
  {
    rule: 'host-path',
    pattern: /volume "([^"]+)" : hostPath type check failed: (\S+) (.*)/,
    cause: ([, volume = '', path = '', why = '']) =>
      `volume ${volume} needs ${path} on the node, which ${why.trim()}`,
    tries: ([, , path = '']) => [
      `ls -ld ${shellQuote(path)}`,
      'create it, or correct hostPath.path and hostPath.type',
    ],
  },
  {
    rule: 'volume-object-missing',
    pattern: /volume "([^"]+)" : (configmap|secret) "([^"]*)" not found/i,
    cause: ([, volume = '', kind = '', name = '']) =>
      `volume ${volume} needs ${kind.toLowerCase() === 'secret' ? 'Secret' : 'ConfigMap'} ${name}, which does not exist`,
    tries: () => ['add it to the manifests, or set optional: true'],
  },
  {
    rule: 'volume-key-missing',
    pattern: /volume "([^"]+)" : .*references non-existent (?:config|secret) key: (\S+)/,
    cause: ([, volume = '', key = '']) =>
      `volume ${volume} needs key ${key}, which its ConfigMap or Secret does not have`,
    tries: () => ['add the key, or correct items of the volume'],
  },
  {
    rule: 'volume-driver-missing',
    pattern: /driver name (\S+) not found in the list of registered CSI drivers/,
    cause: ([, driver = '']) => `the CSI driver ${driver} is not registered on this node`,
    tries: () => [START_DRIVER],
  },
  {
    rule: 'claim-not-provisioned',
    pattern:
      /unbound PersistentVolumeClaim "([^"]+)": Waiting for a volume to be created either by the external provisioner '([^']+)'/,
    cause: ([, claim = '', driver = '']) =>
      `the claim ${claim} has no volume: the CSI driver ${driver} is not registered on this node`,
    tries: () => [START_DRIVER],
  },
  {
    rule: 'provisioning-failed',
    pattern: /failed to provision volume with StorageClass "([^"]+)": (.*)/s,
    cause: ([, name = '', why = '']) =>
      `the CSI driver does not create a volume of StorageClass ${name}: ${why.trim()}`,
    tries: () => ['correct the claim or the StorageClass, or check the log of the CSI driver on this node'],
  },
  {
    rule: 'volume-attached-elsewhere',
    pattern: /Multi-Attach error for volume "([^"]+)" ?(.*)/s,
    cause: ([, volume = '', why = '']) =>
      `volume ${volume} is attached to another node, and can be on one only: ${why.trim()}`,
    tries: () => [
      'delete the pod on the other node; if that node is dead, its volume is detached after 6 minutes',
    ],
  },
  {
    rule: 'volume-not-attached',
    pattern:
      /AttachVolume\.\S+ failed for volume "([^"]+)" ?: (.*)|Volume not attached according to node status for volume "([^"]+)"/s,
    cause: ([text = '', volume = '', why = '', other = '']) =>
      `volume ${volume === '' ? other : volume} is not attached to this node: ${why === '' ? text : why.trim()}`,
    tries: () => ['check the VolumeAttachment objects, and the controller of the CSI driver'],
  },
  {
    rule: 'dra-driver-missing',
    pattern: /DRA driver (\S+) is not registered/,
    cause: ([, driver = '']) => `the DRA driver ${driver} of a resource claim is not registered on this node`,
    tries: () => [
      'check the pod of the driver on this node, and its socket in the directory plugins_registry of the kubelet',
    ],
  },
  {
    rule: 'claim-not-allocated',
    pattern: /cannot allocate all claims: claim (\S+), request (\S+) needs (.*)/s,
    cause: ([, claim = '', request = '', why = '']) =>
      `resource claim ${claim} waits for devices: request ${request} needs ${why.trim()}`,
    tries: () => [
      'delete pods that have the devices, or ask for others in the claim',
      'compare the ResourceSlices in the manifests with the devices of this node',
    ],
  },
  {
    rule: 'claim-missing',
    pattern: /(resourceclaim|resourceclaimtemplate)\.resource\.k8s\.io "([^"]*)" not found/,
    cause: ([, kind = '', name = '']) =>
      `the pod needs ${kind === 'resourceclaim' ? 'ResourceClaim' : 'ResourceClaimTemplate'} ${name}, which does not exist`,
    tries: () => ['add it to the manifests of the pod'],
  },
  {
    rule: 'device-class-missing',
    pattern: /request (\S+): device class (\S+) does not exist/,
    cause: ([, request = '', name = '']) =>
      `request ${request} of a resource claim needs DeviceClass ${name}, which does not exist`,
    tries: () => ['add it to the manifests of the pod'],
  },
  {
    rule: 'device-selector',
    pattern:
      /(claim \S+, request [^\s:,]+(?:, class \S+)?: selector #\d+): CEL (?:compile|runtime) error: (.*)/s,
    cause: ([, where = '', why = '']) => `the CEL expression of ${where} fails: ${why.trim()}`,
    tries: ([, , why = '']) => [
      why.includes('cost limit exceeded')
        ? 'simplify the expression: what it reads and makes for each device is limited, as in a cluster'
        : 'correct the expression; has() tests whether a device has an attribute',
    ],
  },
  {
    rule: 'claim-not-reserved',
    pattern: /pod (\S+) \([^)]*\) is not allowed to use ResourceClaim (\S+)/,
    cause: ([, , claim = '']) =>
      `resource claim ${claim} is not reserved for the pod: the scheduler has not allocated it, or has given it to others`,
    tries: ([, , claim = '']) => [`kubectl get resourceclaim ${shellQuote(claim)} -o yaml`],
  },
  {
    rule: 'claim-not-read',
    pattern: /fetch ResourceClaim ([^\s:]+): (.*)/s,
    cause: ([, claim = '', why = '']) => `resource claim ${claim} cannot be read: ${why.trim()}`,
    tries: ([, claim = '']) => [`kubectl get resourceclaim ${shellQuote(claim)}`],
  },
  {
    rule: 'dra-driver-failed',
    pattern: /NodePrepareResources(?: failed for ResourceClaim ([^\s:]+))?: (.*)/s,
    cause: ([, claim = '', why = '']) =>
      `the DRA driver does not prepare ${claim === '' ? 'the resource claims' : `resource claim ${claim}`}: ${why.trim()}`,
    tries: () => ['check the log of the DRA driver on this node'],
  },
  {
    rule: 'volume-stale',
    pattern: /stale (?:NFS )?file handle|transport endpoint is not connected/i,
    cause: ([text = '']) => `the file system of a volume was lost: ${text}`,
    tries: () => ['check the file server; then unmount the volume, and delete the pod'],
  },
  {
    rule: 'volume-busy',
    pattern: /already mounted or mount point busy|device or resource busy|target is busy/,
    cause: ([text = ''], snapshot) => `a volume is in use${holderText(snapshot, isPath)}: ${text}`,
    tries: (_, snapshot) => [
      'findmnt',
      ...wantedHolders(snapshot).paths.map((path) => `fuser -vm ${shellQuote(path)}`),
    ],
  },
  {
    rule: 'volume-timeout',
    pattern: /(?:Unable to attach or mount volumes: )?unmounted volumes=\[([^\]]*)\].*timed out/,
    cause: ([, volumes = '']) => `volume ${volumes} was not mounted in time`,
    tries: (_, snapshot) => [describeAdvice(snapshot)],
  },
  {
    rule: 'volume-mode',
    pattern: /volume (\S+) has volumeMode (Block|Filesystem), but is specified in (\w+)/,
    cause: ([, volume = '', mode = '', list = '']) =>
      `volume ${volume} is in ${list} of a container, but its PersistentVolume has the volumeMode ${mode}`,
    tries: ([, , mode = '']) => [
      `use the volume in ${mode === 'Block' ? 'volumeDevices' : 'volumeMounts'}, or a claim with the other volumeMode`,
    ],
  },
  {
    rule: 'volume-no-device',
    pattern:
      /volume "([^"]+)" : (.* is not a block device|the CSI driver has not made the block device .*)|volume (\S+) is specified in volumeDevices, but has no block device/,
    cause: ([, volume = '', why = '', other = '']) =>
      `volume ${volume === '' ? other : volume} cannot be given to a container as a device: ${why === '' ? 'it has no PersistentVolume with a device' : why}`,
    tries: () => ['check the device of the PersistentVolume, and its volumeMode'],
  },
  NOT_EXPANDED,
  {
    rule: 'volume',
    pattern: /(?:Mount|Map)(?:Volume|Device)\.\S+ failed for volume "([^"]+)" ?: (.*)/s,
    cause: ([, volume = '', why = '']) => `volume ${volume} cannot be mounted: ${why.trim()}`,
    tries: (_, snapshot) => [describeAdvice(snapshot)],
  },
  {
    rule: 'cni-not-ready',
    pattern:
      /cni plugin not initialized|cni config uninitialized|network is not ready|NetworkPluginNotReady|no networks found in/i,
    cause: () => 'the network plugin (CNI) of the node is not ready',
    tries: () => [
      'ls /etc/cni/net.d /opt/cni/bin',
      'check the pods of the network plugin on this node',
      {kcri: ['info']},
    ],
  },
  {
    rule: 'no-address-left',
    pattern:
      /no IP addresses available in (?:range set|network): ?(.*)|failed to allocate for range[^:]*: (.*)/,
    cause: ([, range = '']) =>
      `the network of the pods has no free address left${range === '' ? '' : `: ${range.trim()}`}`,
    tries: () => [
      'ls /var/lib/cni/networks',
      'remove addresses of pods that no longer exist, or enlarge the range',
    ],
  },
  {
    rule: 'cni-plugin-missing',
    pattern: /failed to find plugin "([^"]+)" in path \[([^\]]*)\]/,
    cause: ([, plugin = '', path = '']) => `the CNI plugin ${plugin} is not installed in ${path}`,
    tries: () => ['install the CNI plugins'],
  },
  {
    rule: 'host-port-taken',
    pattern: HOST_PORT_TAKEN,
    cause: ([, port = ''], snapshot) =>
      `host port ${port} is taken${holderText(snapshot, isPort(Number(port)))}`,
    tries: ([, port = '']) => [`ss -lntup 'sport = :${port}'`],
  },
  {
    rule: 'disk-full',
    pattern: /no space left on device/,
    cause: () => 'no space is left for the directories of the pod, its volumes, or the state of the runtime',
    tries: () => ['df -h; df -i', {kcri: ['doctor', '--only', 'disk/space,disk/inodes']}],
  },
  {
    rule: 'runtime-class',
    pattern: /no runtime for "([^"]+)" is configured|runtime handler "([^"]*)" not (?:found|supported)/,
    cause: ([, first = '', second = '']) =>
      `the runtime has no handler ${first === '' ? second : first} (runtimeClassName)`,
    tries: () => ['configure the handler in the runtime, or correct runtimeClassName'],
  },
  {
    rule: 'pause-image',
    pattern: /failed to (?:get|pull) (?:sandbox|and unpack) image "([^"]+)": (.*)/,
    cause: ([, image = '', why = '']) => `the image ${image} of the sandbox cannot be pulled: ${why.trim()}`,
    tries: ([, image = '']) => [
      {kcri: ['pull', image]},
      'set the sandbox image in the configuration of the runtime',
    ],
  },
  {
    rule: 'sandbox-slow',
    pattern: /DeadlineExceeded|context deadline exceeded|failed to reserve sandbox name/,
    cause: () => 'the runtime does not create the sandbox in time',
    tries: () => ['check the load of the disk and the log of the runtime', {kcri: ['info']}],
  },
];

/** Explains a pod that has no container yet, since its volumes or its sandbox cannot be prepared. */
export function explainPreparation(snapshot: PodSnapshot): Finding | undefined {
  const {initContainerStatuses = [], containerStatuses = []} = snapshot.pod.status ?? {};
  const statuses = [...initContainerStatuses, ...containerStatuses];
  if (statuses.length === 0 || !statuses.every(isNotCreated)) return undefined;
  const [event] = eventsOf(snapshot, undefined, ...REASONS);
  const message = event?.message ?? snapshot.kubelet?.worker.error;
  if (message === undefined) return undefined;
  const known = explainMessage(PATTERNS, message, snapshot) ?? {
    rule: 'preparation',
    cause: `the pod cannot be prepared: ${quoteMessage(message)}`,
    tries: [describeAdvice(snapshot)],
  };
  const seen = event === undefined ? [] : [eventText(event, snapshot)];
  return {severity: 'problem', ...known, evidence: [...seen, quoteMessage(message)], ...nextSync(snapshot)};
}

function isNotCreated({state = {}, lastState = {}}: ContainerStatus): boolean {
  const {running, terminated, waiting} = state;
  if (running !== undefined || terminated !== undefined || lastState.terminated !== undefined) return false;
  const {reason = ''} = waiting ?? {};
  return reason === '' || reason === 'ContainerCreating' || reason === 'PodInitializing';
}

function nextSync({kubelet, isUnattended, takenAt}: PodSnapshot): Pick<Finding, 'next'> {
  if (isUnattended) return {next: 'nothing: no kcri process runs this pod'};
  const at = kubelet?.worker.nextSyncAt;
  return at === undefined ? {} : {next: `the kubelet tries again at ${clockText(at, takenAt)}`};
}
