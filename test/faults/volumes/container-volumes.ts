import {appendFileSync, existsSync, realpathSync, statSync} from 'node:fs';
import {join} from 'node:path';
import type {FakeRuntime} from '../../fakes/fake-runtime.js';
import type {ContainerRecord} from '../../fakes/runtime/runtime-records.js';
import {MARK} from './volume-backend.js';
import {DEVICES_OF_POD, MOUNTS_OF_POD} from './volume-manifests.js';

/** Paths on the node of what a container has of CSI drivers. */
interface ContainerVolumes {
  readonly mounts: readonly {readonly path: string; readonly containerPath: string}[];
  readonly devices: readonly string[];
}

interface Config {
  readonly mounts?: readonly {readonly hostPath?: string; readonly containerPath?: string}[];
  readonly devices?: readonly {readonly hostPath?: string}[];
}

function volumesOf({config}: ContainerRecord): ContainerVolumes {
  const {mounts = [], devices = []} = config as Config;
  return {
    mounts: mounts
      .map(({hostPath: path = '', containerPath = ''}) => ({path, containerPath}))
      .filter(({path}) => /\/(?:volumes\/kubernetes\.io~csi|volume-subpaths)\//.test(path)),
    devices: devices.map(({hostPath = ''}) => hostPath),
  };
}

/** Returns the UIDs of the pods of which a container is running. */
export function runningPods(fake: FakeRuntime): ReadonlySet<string> {
  const running = fake.containers.filter(({state}) => state === 'CONTAINER_RUNNING');
  return new Set(running.map(({config}) => String(config.labels['io.kubernetes.pod.uid'])));
}

/** Returns what the running containers lack of their volumes, whose device has this number. */
export function lostVolumes(fake: FakeRuntime, deviceNumber: number): readonly string[] {
  return fake.containers
    .filter(({state}) => state === 'CONTAINER_RUNNING')
    .flatMap((container) => {
      const {mounts, devices} = volumesOf(container);
      const lost = [
        ...mounts.map(({path}) => path).filter((path) => !existsSync(join(path, MARK))),
        ...devices.filter((path) => numberOf(path) !== deviceNumber),
      ];
      if (mounts.length !== MOUNTS_OF_POD || devices.length !== DEVICES_OF_POD)
        lost.push(`${mounts.length} mounts, ${devices.length} devices`);
      const pod = container.config.labels['io.kubernetes.pod.name'];
      return lost.map((path) => `a running container of ${pod} lacks ${path}`);
    });
}

function numberOf(path: string): number | undefined {
  try {
    return statSync(realpathSync(path)).rdev;
  } catch {
    return undefined;
  }
}

/** Writes the ID of a container into two of its volumes, as the container would. Returns what is written into each. */
export function writeInContainer(container: ContainerRecord): string {
  const text = `${container.id}\n`;
  for (const {path, containerPath} of volumesOf(container).mounts)
    if (containerPath === '/files' || containerPath === '/made') appendFileSync(join(path, 'log'), text);
  return text;
}
