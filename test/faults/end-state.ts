import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {join, relative} from 'node:path';
import type {ContainerState} from '../../src/api/types/v1-status.js';
import type {FakeRuntime} from '../fakes/fake-runtime.js';
import type {PodWithStatus} from '../golden/canonical/canonical-pods.js';

/** Returns phase, reason and container states of pods as text, without restart counts, times and IDs. */
export function summarizePods(pods: readonly PodWithStatus[]): string {
  return pods
    .map(({pod, status}) => {
      const containers = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])].map(
        ({name, ready, state}) => `${name}${ready ? ' ready' : ''} ${describeState(state)}`,
      );
      return [pod.metadata.name, status.phase, status.reason ?? '', ...containers].join(', ');
    })
    .join('; ');
}

function describeState(state: ContainerState | undefined): string {
  if (state?.waiting !== undefined) return `waiting ${state.waiting.reason ?? ''}`;
  if (state?.terminated !== undefined)
    return `terminated ${state.terminated.reason ?? ''} ${state.terminated.exitCode}`;
  return state?.running === undefined ? 'unknown' : 'running';
}

/** Returns the containers of a pod (UID) of which more than one instance is running, as `pod/UID/container`. */
export function findDuplicates({sandboxes, containers}: FakeRuntime): readonly string[] {
  const podNames = new Map(
    sandboxes.map(({id, config}) => [id, `${config.metadata?.name}/${config.metadata?.uid}`]),
  );
  const names = containers
    .filter(({state}) => state === 'CONTAINER_RUNNING')
    .map(({sandboxId, config}) => `${podNames.get(sandboxId)}/${config.metadata?.name}`);
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}

/** Directories that are created once and stay, such as root/pods and root/kcri/records. */
const SHARED = /^[^/]+(?:\/kcri)?(?:\/[^/]+)?$/;
/** A file name that is a digest of the endpoint, which differs from run to run. */
const RUNTIME = /(?<=\/runtimes\/)sha256-\w+/;

/** Lists all files, and directories of pods, below the directories, relative to `base`. */
export function listFiles(base: string, directories: readonly string[]): readonly string[] {
  return directories
    .map((directory) => join(base, directory))
    .filter((directory) => existsSync(directory))
    .flatMap((directory) => readdirSync(directory, {recursive: true, withFileTypes: true}))
    .map((entry) => ({path: relative(base, join(entry.parentPath, entry.name)), entry}))
    .filter(({path, entry}) => !entry.isDirectory() || !SHARED.test(path))
    .map(({path}) => path.replace(RUNTIME, '<runtime>'))
    .toSorted();
}

/** Lists the mounts of this machine below the directory. */
export function listMounts(directory: string): readonly string[] {
  return readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((path) => path.startsWith(directory));
}
