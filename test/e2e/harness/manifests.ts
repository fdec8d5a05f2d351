import {logPodFields} from '../../field-log.js';

/** The image that every runtime under test has. */
export const IMAGE = 'docker.io/library/busybox:1.36';

/** Runs until it is told to end, and then ends at once. */
export const SLEEP_COMMAND = ['sh', '-c', 'trap "exit 0" TERM; sleep 3600 & wait'];

/** A shell's command line. */
export const shellCommand = (script: string): readonly string[] => ['sh', '-c', script];

/** Some of a Pod's fields, as people write them. */
export type ManifestFields = Readonly<Record<string, unknown>>;

/** A container of the test image that sleeps unless told otherwise. */
export function aContainer(name = 'main', fields: ManifestFields = {}): ManifestFields {
  return {name, image: IMAGE, command: SLEEP_COMMAND, ...fields};
}

/** A manifest, in JSON, with one sleeping container unless told otherwise. */
export function aManifest(name: string, spec: ManifestFields = {}, metadata: ManifestFields = {}): string {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {name, ...metadata},
    spec: {terminationGracePeriodSeconds: 2, containers: [aContainer()], ...spec},
  };
  return JSON.stringify(logPodFields(pod));
}
