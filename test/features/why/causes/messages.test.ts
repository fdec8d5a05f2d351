import {describe, expect, test} from 'vitest';
import {diagnose} from '../../../../src/features/why/causes/diagnose.js';
import {anEvent, anExit, aWaiting} from '../a-snapshot.js';

/** What runtimes, registries and kubelets say, and the rule and cause that follow. */
type Case = readonly [message: string, rule: string, cause: string];

const RESOLVE = 'failed to pull and unpack image "busybox:1": failed to resolve reference "busybox:1": ';
const HEAD = `${RESOLVE}failed to do request: Head "https://registry-1.docker.io/v2/library/busybox/manifests/1": `;

const IMAGES: readonly Case[] = [
  [
    'Container image "busybox:1" is not present with pull policy of Never',
    'image-never-pulled',
    'image busybox:1 is not on the node, and imagePullPolicy is Never',
  ],
  [
    'Failed to apply default image tag "busybox:1": couldn\'t parse image name "x:::": invalid reference format',
    'image-name-invalid',
    '"busybox:1" is not a valid image name',
  ],
  [
    `${RESOLVE}unexpected status code https://registry-1.docker.io/v2/: 429 Too Many Requests`,
    'image-rate-limit',
    'registry registry-1.docker.io refuses more pulls from this node for now (rate limit)',
  ],
  [
    `${HEAD}proxyconnect tcp: dial tcp 10.0.0.1:3128: connect: connection refused`,
    'image-proxy',
    'the proxy of the runtime does not forward the request: proxyconnect tcp: dial tcp 10.0.0.1:3128: connect: connection refused',
  ],
  [
    `${HEAD}tls: failed to verify certificate: x509: certificate signed by unknown authority`,
    'image-tls',
    'the runtime does not trust the registry registry-1.docker.io: tls: failed to verify certificate: x509: certificate signed by unknown authority',
  ],
  [
    `${HEAD}http: server gave HTTP response to HTTPS client`,
    'image-tls',
    'the runtime does not trust the registry registry-1.docker.io: server gave HTTP response to HTTPS client',
  ],
  [
    `${HEAD}dial tcp: lookup registry-1.docker.io on 10.96.0.10:53: no such host`,
    'image-dns',
    "the node cannot resolve the registry's name registry-1.docker.io: no such host, says DNS server 10.96.0.10:53",
  ],
  [
    `${HEAD}dial tcp: lookup registry-1.docker.io: i/o timeout`,
    'image-dns',
    "the node cannot resolve the registry's name registry-1.docker.io: i/o timeout",
  ],
  [
    'failed to pull and unpack image "busybox:1": no match for platform in manifest: not found',
    'image-platform',
    'image busybox:1 does not exist for the platform of this node',
  ],
  [
    `${RESOLVE}pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed`,
    'image-denied',
    'registry registry-1.docker.io denies access to busybox:1: the repository does not exist, or needs other credentials',
  ],
  [
    `${RESOLVE}docker.io/library/busybox:1: not found`,
    'image-not-found',
    'image busybox:1 does not exist in the registry registry-1.docker.io',
  ],
  [
    `${HEAD}dial tcp 10.1.2.3:443: i/o timeout`,
    'image-unreachable',
    'the node cannot connect to the registry at 10.1.2.3:443: i/o timeout',
  ],
  [
    'failed to extract layer: write /var/lib/containerd/x: no space left on device',
    'image-disk-full',
    'the disk of the images is full',
  ],
  [
    'rpc error: code = DeadlineExceeded desc = context deadline exceeded',
    'image-slow',
    'pulling busybox:1 took longer than the runtime allows',
  ],
  ['something new', 'image-other', 'container main has no image: ErrImagePull'],
];

const CONFIGS: readonly Case[] = [
  [
    'configmap "settings" not found',
    'object-missing',
    'container main needs ConfigMap settings, which does not exist',
  ],
  ['secret "keys" not found', 'object-missing', 'container main needs Secret keys, which does not exist'],
  [
    "couldn't find key url in ConfigMap default/settings",
    'key-missing',
    'container main needs key url of ConfigMap default/settings, which has no such key',
  ],
  [
    'container has runAsNonRoot and image will run as root (pod: "web_default(u)", container: main)',
    'run-as-non-root',
    'container main may not run as root (runAsNonRoot), and nothing says which other user',
  ],
  [
    'container has runAsNonRoot and image has non-numeric user (app), cannot verify user is non-root',
    'run-as-non-root',
    'runAsNonRoot cannot be checked: USER of the image is the name app, not a number',
  ],
  [
    'failed to prepare subPath for volumeMount "v" of container "main"',
    'sub-path',
    'a subPath of container main cannot be used: failed to prepare subPath for volumeMount "v" of container "main"',
  ],
  [
    'failed to generate container spec: no command specified',
    'no-command',
    'neither container main nor image busybox:1 has a command',
  ],
  [
    `failed to reserve container name "main_web": name "main_web" is reserved for "${'a'.repeat(64)}"`,
    'name-reserved',
    'an earlier attempt to create the container, aaaaaaaaaaaaa, has not ended in the runtime',
  ],
  [
    'endpoint not found in cache for a registered resource: example.com/gpu',
    'device-plugin-gone',
    'container main has devices of example.com/gpu, whose plugin no longer runs',
  ],
  [
    'device plugin PreStartContainer rpc failed with err: rpc error: code = Unknown desc = broken',
    'device-plugin-failed',
    'the device plugin fails in PreStartContainer: rpc error: code = Unknown desc = broken',
  ],
  ['something new', 'create-other', 'container main cannot be created: CreateContainerError'],
];

const RUNC =
  'failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: ';
const START = `${RUNC}unable to start container process: `;

const STARTS: readonly Case[] = [
  [
    `${START}exec: "server": executable file not found in $PATH: unknown`,
    'command-not-found',
    'command "server" of container main is in no directory of $PATH in image busybox:1',
  ],
  [
    `${START}exec: "/app": stat /app: no such file or directory: unknown`,
    'command-missing',
    'command /app of container main does not exist in image busybox:1',
  ],
  [
    `${START}exec: "/app": permission denied: unknown`,
    'command-not-executable',
    'command /app of container main is not executable for its user',
  ],
  [
    `${START}exec: "/app": is a directory: unknown`,
    'command-is-directory',
    'command /app of container main is a directory',
  ],
  [
    `${START}exec /app: exec format error: unknown`,
    'exec-format',
    'the command of container main is not a program that this node can run: it is built for another architecture, or a script without "#!"',
  ],
  [
    `${START}exec /app: no such file or directory: unknown`,
    'loader-missing',
    '/app exists, but its interpreter or dynamic loader is missing in the image',
  ],
  [
    `${START}chdir to cwd ("/srv") set in config.json failed: permission denied: unknown`,
    'working-directory',
    'the working directory /srv cannot be used: permission denied',
  ],
  [
    `${START}error during container init: mkdir /etc/passwd: not a directory: unknown`,
    'working-directory',
    'the working directory /etc/passwd cannot be used: not a directory',
  ],
  [
    `${START}unable to find user app: no matching entries in passwd file: unknown`,
    'user-missing',
    'user app does not exist in image busybox:1',
  ],
  [
    `${START}error during container init: error mounting "/host/f" to rootfs at "/etc": mount /host/f:/etc (via /proc/self/fd/6), flags: 0x5000: not a directory: unknown`,
    'mount-type',
    '/host/f cannot be mounted at /etc: not a directory',
  ],
  [
    `${START}container init was OOM-killed (memory limit too low?): unknown`,
    'memory-too-low',
    'the memory limit of container main is too low even to start it',
  ],
  [
    `${START}error during container init: unable to apply apparmor profile: apparmor failed to apply profile: no such file: unknown`,
    'apparmor',
    'AppArmor does not allow the start: apparmor profile: apparmor failed to apply profile: no such file: unknown',
  ],
  [
    `${RUNC}mkdir /run/x: no space left on device: unknown`,
    'disk-full',
    "the disk of the runtime's state or of the containers is full",
  ],
  ['something new', 'start-other', 'the runtime could not start container main'],
];

const PREPARATIONS: readonly Case[] = [
  [
    'MountVolume.SetUp failed for volume "data" : hostPath type check failed: /no/such is not a directory',
    'host-path',
    'volume data needs /no/such on the node, which is not a directory',
  ],
  [
    'MountVolume.SetUp failed for volume "cfg" : configmap "settings" not found',
    'volume-object-missing',
    'volume cfg needs ConfigMap settings, which does not exist',
  ],
  [
    'MountVolume.SetUp failed for volume "cfg" : references non-existent config key: url',
    'volume-key-missing',
    'volume cfg needs key url, which its ConfigMap or Secret does not have',
  ],
  [
    'MountVolume.MountDevice failed for volume "pvc-1" : kubernetes.io/csi: driver name ebs.csi.aws.com not found in the list of registered CSI drivers',
    'volume-driver-missing',
    'the CSI driver ebs.csi.aws.com is not registered on this node',
  ],
  [
    'MountVolume.SetUp failed for volume "nfs" : stale NFS file handle',
    'volume-stale',
    'the file system of a volume was lost: stale NFS file handle',
  ],
  [
    'MountVolume.SetUp failed for volume "d" : mount failed: /dev/sdb already mounted or mount point busy',
    'volume-busy',
    'a volume is in use: already mounted or mount point busy',
  ],
  [
    'Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[data]: timed out waiting for the condition',
    'volume-timeout',
    'volume data was not mounted in time',
  ],
  [
    'Unable to attach or mount volumes: unmounted volumes=[raw], unattached volumes=[], failed to process volumes=[raw]: volume raw has volumeMode Block, but is specified in volumeMounts',
    'volume-mode',
    'volume raw is in volumeMounts of a container, but its PersistentVolume has the volumeMode Block',
  ],
  [
    'MapVolume.MapBlockVolume failed for volume "disk" : "/tmp" is not a block device',
    'volume-no-device',
    'volume disk cannot be given to a container as a device: "/tmp" is not a block device',
  ],
  [
    'Unable to attach or mount volumes: unmounted volumes=[v], unattached volumes=[], failed to process volumes=[v]: volume v is specified in volumeDevices, but has no block device',
    'volume-no-device',
    'volume v cannot be given to a container as a device: it has no PersistentVolume with a device',
  ],
  [
    'MountVolume.Setup failed while expanding volume for volume "pvc-1" : Expander.NodeExpand failed to expand the volume : rpc error: code = Internal desc = x',
    'volume-not-expanded',
    'volume pvc-1 cannot be enlarged on this node: Expander.NodeExpand failed to expand the volume : rpc error: code = Internal desc = x',
  ],
  [
    'MapVolume.SetUpDevice failed for volume "pvc-2" : no disk',
    'volume',
    'volume pvc-2 cannot be mounted: no disk',
  ],
  [
    'MountVolume.SetUp failed for volume "data" : permission denied',
    'volume',
    'volume data cannot be mounted: permission denied',
  ],
  [
    'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "a": cni plugin not initialized',
    'cni-not-ready',
    'the network plugin (CNI) of the node is not ready',
  ],
  [
    'Failed to create pod sandbox: plugin type="bridge" failed (add): no IP addresses available in range set: 10.88.0.1-10.88.0.254',
    'no-address-left',
    'the network of the pods has no free address left: 10.88.0.1-10.88.0.254',
  ],
  [
    'Failed to create pod sandbox: failed to find plugin "bridge" in path [/opt/cni/bin]',
    'cni-plugin-missing',
    'the CNI plugin bridge is not installed in /opt/cni/bin',
  ],
  [
    'Failed to create pod sandbox: cannot open hostport 8080 for pod web: listen tcp4 :8080: bind: address already in use',
    'host-port-taken',
    'host port 8080 is taken',
  ],
  [
    'Failed to create pod sandbox: no runtime for "kata" is configured',
    'runtime-class',
    'the runtime has no handler kata (runtimeClassName)',
  ],
  [
    'Failed to create pod sandbox: failed to get sandbox image "registry.k8s.io/pause:3.9": dial tcp: i/o timeout',
    'pause-image',
    'the image registry.k8s.io/pause:3.9 of the sandbox cannot be pulled: dial tcp: i/o timeout',
  ],
  [
    'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to mkdir "/run/x": no space left on device',
    'disk-full',
    'no space is left for the directories of the pod, its volumes, or the state of the runtime',
  ],
  [
    'Failed to create pod sandbox: rpc error: code = DeadlineExceeded desc = context deadline exceeded',
    'sandbox-slow',
    'the runtime does not create the sandbox in time',
  ],
  [
    'Multi-Attach error for volume "pvc-1" Volume is already used by pod(s) old',
    'volume-attached-elsewhere',
    'volume pvc-1 is attached to another node, and can be on one only: Volume is already used by pod(s) old',
  ],
  [
    'AttachVolume.Attach failed for volume "pvc-1" : timed out waiting for external-attacher of ebs.csi.aws.com',
    'volume-not-attached',
    'volume pvc-1 is not attached to this node: timed out waiting for external-attacher of ebs.csi.aws.com',
  ],
  [
    'Failed to prepare dynamic resources: prepare dynamic resources: DRA driver gpu.example.com is not registered',
    'dra-driver-missing',
    'the DRA driver gpu.example.com of a resource claim is not registered on this node',
  ],
  [
    'Failed to prepare dynamic resources: prepare dynamic resources: pod web (u) is not allowed to use ResourceClaim gpu (c)',
    'claim-not-reserved',
    'resource claim gpu is not reserved for the pod: the scheduler has not allocated it, or has given it to others',
  ],
  [
    'cannot allocate all claims: claim default/gpu, request req needs 1 device of class gpu: 1 device on this node, 1 allocated already',
    'claim-not-allocated',
    'resource claim default/gpu waits for devices: request req needs 1 device of class gpu: 1 device on this node, 1 allocated already',
  ],
  [
    'claim default/gpu, request req, class gpu: selector #0: CEL compile error: No such key: x in "device.x"',
    'device-selector',
    'the CEL expression of claim default/gpu, request req, class gpu: selector #0 fails: No such key: x in "device.x"',
  ],
  [
    'claim default/gpu, request req: selector #1: CEL runtime error: operation cancelled: actual cost limit exceeded (1000000) in "x"',
    'device-selector',
    'the CEL expression of claim default/gpu, request req: selector #1 fails: operation cancelled: actual cost limit exceeded (1000000) in "x"',
  ],
  [
    'Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: pod has unbound PersistentVolumeClaim "data": Waiting for a volume to be created either by the external provisioner \'dirs.example.com\' or manually by the system administrator.',
    'claim-not-provisioned',
    'the claim data has no volume: the CSI driver dirs.example.com is not registered on this node',
  ],
  [
    'Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: failed to provision volume with StorageClass "dirs": rpc error: code = OutOfRange desc = too large',
    'provisioning-failed',
    'the CSI driver does not create a volume of StorageClass dirs: rpc error: code = OutOfRange desc = too large',
  ],
  [
    'Failed to prepare dynamic resources: prepare dynamic resources: fetch ResourceClaim gpu: resourceclaims.resource.k8s.io "gpu" not found',
    'claim-not-read',
    'resource claim gpu cannot be read: resourceclaims.resource.k8s.io "gpu" not found',
  ],
  [
    'Failed to prepare dynamic resources: prepare dynamic resources: NodePrepareResources failed for ResourceClaim gpu: no device',
    'dra-driver-failed',
    'the DRA driver does not prepare resource claim gpu: no device',
  ],
  ['something new', 'preparation', 'the pod cannot be prepared: "something new"'],
];

describe('a message names its cause', () => {
  test.each(IMAGES)('image: %s', (message, rule, cause) => {
    expect(diagnose(aWaiting('ErrImagePull', message))).toMatchObject([
      {rule, cause, severity: 'problem', container: 'main'},
    ]);
  });

  test.each(CONFIGS)('configuration: %s', (message, rule, cause) => {
    expect(diagnose(aWaiting('CreateContainerError', message))).toMatchObject([{rule, cause}]);
  });

  test.each(STARTS)('start: %s', (message, rule, cause) => {
    expect(diagnose(aWaiting('RunContainerError', message))).toMatchObject([{rule, cause}]);
    expect(diagnose(anExit({exitCode: 128, reason: 'StartError', message}))).toMatchObject([{rule, cause}]);
  });

  test.each(PREPARATIONS)('preparation: %s', (message, rule, cause) => {
    const events = [anEvent({reason: 'FailedMount', message, fieldPath: undefined, count: 3} as never)];
    expect(diagnose(aWaiting('ContainerCreating', '', {events}))).toMatchObject([{rule, cause}]);
  });

  test('a path of a message is quoted in a command for the shell', () => {
    const path = '/data/$(reboot)';
    const message = `MountVolume.SetUp failed for volume "data" : hostPath type check failed: ${path} is not a directory`;
    const events = [anEvent({reason: 'FailedMount', message, fieldPath: undefined, count: 3} as never)];
    const [finding] = diagnose(aWaiting('ContainerCreating', '', {events}));
    expect(finding?.tries[0]).toBe(`ls -ld '${path}'`);
  });
});
