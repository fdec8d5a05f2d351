import {aRawPod} from '../../fakes/a-pod.js';

/** The image that every runtime under test has. */
export const IMAGE = 'docker.io/library/busybox:1.36';

/** Runs until it is told to end, and then ends at once. */
export const SLEEP_COMMAND = ['sh', '-c', 'trap "exit 0" TERM; sleep 3600 & wait'];

/** A shell's command line. */
export const shellCommand = (script: string): readonly string[] => ['sh', '-c', script];

/** Some of a Pod's fields, as people write them. */
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
