import {aRawPod} from '../../fakes/a-pod.js';

/** Image that is loaded into every runtime under test. */
export const IMAGE = 'docker.io/library/busybox:1.36';

/** Command that runs until SIGTERM and then exits immediately. */
export const SLEEP_COMMAND = ['sh', '-c', 'trap "exit 0" TERM; sleep 3600 & wait'];

/** Returns the command line of a shell script. */
export const shellCommand = (script: string): readonly string[] => ['sh', '-c', script];

/** Some fields of a Pod, as in a manifest. */
export type ManifestFields = Readonly<Record<string, unknown>>;

const SLEEPS = {name: 'main', image: IMAGE, command: SLEEP_COMMAND};

/** Returns a container of the test image, which sleeps by default. */
export function aContainer(name = 'main', fields: ManifestFields = {}): ManifestFields {
  return {...SLEEPS, name, ...fields};
}

/** Returns a manifest in JSON, by default with one container, which sleeps. */
export function aManifest(name: string, spec: ManifestFields = {}, metadata: ManifestFields = {}): string {
  const defaults = {terminationGracePeriodSeconds: 2, containers: [SLEEPS]};
  return JSON.stringify(aRawPod({...defaults, ...spec}, {name, ...metadata}));
}
