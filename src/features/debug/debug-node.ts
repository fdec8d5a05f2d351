import {existsSync} from 'node:fs';
import {randomUUID} from 'node:crypto';
import {ConfigError} from '../../base/errors.js';
import {podUid, type Connection, type Init, type Mount} from '../../cri/index.js';
import {listAllImages} from '../../cri/list-all.js';
import {profileSecurityContext} from '../../operations/debug/debug-profiles.js';
import {withContext} from '../../operations/with-context.js';
import type {
  DialectContext,
  EnvironmentContext,
  OutputContext,
  RuntimeContext,
  SignalContext,
} from '../../cli/command/contexts.js';
import {ensureImage} from '../pull/ensure-image.js';
import {checkRunningPods} from '../run/check-running-pods.js';
import {runInPod, type PreparedRun} from '../run/run-in-pod.js';
import type {DebugRequest} from './debug-request.js';

const HOST_ROOT: Init<Mount> = {hostPath: '/', containerPath: '/host'};

/** Directories of the node's programs and their libraries. */
const PROGRAM_DIRECTORIES = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/usr'];

/**
 * Runs a container in the namespaces of the node, with its root filesystem at /host, and removes it at the end. Without
 * an image, runs a program of the node in its root filesystem. Rejects with KcriError.
 */
export async function debugNode(
  services: RuntimeContext & DialectContext & OutputContext,
  request: DebugRequest,
): Promise<void> {
  const {flags, policy} = request;
  const connection = await services.connections.default();
  await checkRunningPods(services, connection, undefined);
  if (flags.image !== undefined) await ensureImage(services, connection, {image: flags.image, policy}, flags);
  const run =
    flags.image === undefined
      ? await runOnHost(services, connection, request)
      : {image: flags.image, words: [], entrypoint: undefined, user: {}, mounts: [HOST_ROOT]};
  await runInPod(services, connection, {
    run: {...nodeRun(request), ...run, ...(flags.image !== undefined && imageCommand(request))},
    runtimeHandler: '',
    detach: false,
    removes: !flags.keep,
    flags,
  });
}

/** Returns the command line of an image, which replaces its entrypoint as in kubectl. */
function imageCommand({words}: DebugRequest): Pick<PreparedRun, 'words' | 'entrypoint'> {
  return words.length === 0 ? {words} : {entrypoint: '', words};
}

/** Returns what does not depend on the image. */
function nodeRun({newName, environment, profile, streams}: DebugRequest) {
  const {capabilities, privileged = false} = profileSecurityContext(profile);
  return {
    name: `node-${newName}`,
    uid: podUid(randomUUID()),
    environment,
    ports: [],
    hostNetwork: true,
    hostPid: true,
    hostIpc: true,
    labels: {},
    privileged,
    readonlyRootfs: false,
    capAdd: capabilities?.add ?? [],
    capDrop: capabilities?.drop ?? [],
    stdin: streams.stdin && ('once' as const),
    tty: streams.tty,
  };
}

/**
 * Returns a container with the node's own programs, which changes to the node's root filesystem. It uses any image of
 * the node, such as that of sandboxes, as an empty directory.
 */
async function runOnHost(
  {context, signal}: EnvironmentContext & SignalContext,
  {images}: Connection,
  {words, environment}: DebugRequest,
): Promise<Pick<PreparedRun, 'image' | 'words' | 'entrypoint' | 'user' | 'mounts' | 'environment'>> {
  const present = await withContext('listing images', listAllImages(images, signal));
  const [smallest] = present.toSorted(
    (a, b) => Number(b.pinned) - Number(a.pinned) || Number(a.size - b.size),
  );
  if (smallest === undefined)
    throw new ConfigError('the runtime has no image that a container could use', {
      hint: 'name one with --image',
    });
  const directories = PROGRAM_DIRECTORIES.filter((path) => existsSync(path));
  const {PATH = '/usr/sbin:/usr/bin:/sbin:/bin', HOME = '/root'} = context.env;
  const shell = existsSync('/bin/bash') ? 'bash' : 'sh';
  return {
    image: smallest.id,
    entrypoint: '',
    words: ['chroot', '/host', ...(words.length === 0 ? [shell] : words)],
    user: {runAsUser: {value: 0n}},
    mounts: [
      HOST_ROOT,
      ...directories.map((path) => ({hostPath: path, containerPath: path, readonly: true})),
    ],
    environment: new Map([['PATH', PATH], ['HOME', HOME], ...environment]),
  };
}
