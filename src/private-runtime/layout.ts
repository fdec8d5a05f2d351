import {createHash} from 'node:crypto';
import {join} from 'node:path';

/** Where everything of one private runtime lies. */
export interface Layout {
  /** All files that outlive a boot. */
  readonly root: string;
  /** Held by the `up` or `down` that works on this runtime. */
  readonly lockFile: string;
  readonly configFile: string;
  readonly logFile: string;
  /** containerd's persistent root. */
  readonly containerdRoot: string;
  /** containerd's state, which a boot makes void: bundles, network namespaces, mounts. */
  readonly stateDir: string;
  readonly socket: string;
  readonly endpoint: string;
  readonly cniConfDir: string;
  readonly ipamDir: string;
  readonly tempDir: string;
  readonly optDir: string;
}

/** A unix socket's path has 107 bytes; containerd listens on `<socket>.ttrpc` as well. */
const LONGEST_SOCKET = 107 - '.ttrpc'.length;

/**
 * The layout below kcri's root directory (absolute, without symbolic links). When the directory's name is
 * too long for a socket in it, socket and state move to /run/kcri/, under a hash of the name.
 */
export function layoutOf(rootDir: string): Layout {
  const root = join(rootDir, 'runtime');
  const runDir = fitsSocket(join(root, SOCKET)) ? root : join(RUN_ROOT, hash(root));
  const socket = join(runDir, SOCKET);
  return {
    root,
    lockFile: `/run/kcri-${hash(root)}.lock`,
    configFile: join(root, 'config.toml'),
    logFile: join(root, 'containerd.log'),
    containerdRoot: join(root, 'root'),
    stateDir: join(runDir, 'state'),
    socket,
    endpoint: `unix://${socket}`,
    cniConfDir: join(root, 'cni', 'conf'),
    ipamDir: join(root, 'cni', 'ipam'),
    tempDir: join(root, 'tmp'),
    optDir: join(root, 'opt'),
  };
}

/** What the pods of kcri's root directory keep in it, beside the runtime; with the last pod and runtime they are empty. */
export const POD_DIRS = [
  'events',
  'image_manager',
  'kubelet',
  'locks',
  'pods',
  'records',
  'resources',
  'statuses',
];

/** Where sockets and state of roots with long names go. */
export const RUN_ROOT = '/run/kcri';
const SOCKET = 'containerd.sock';

function fitsSocket(path: string): boolean {
  return Buffer.byteLength(path) <= LONGEST_SOCKET;
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
