import type {FileLogger, Logger} from '../../base/logger.js';
import type {PodStates} from '../contract/pod-update.js';
import {secretValuesOf} from '../managers/redaction/pod-redactor.js';
import type {SecretRegistry} from '../managers/redaction/secret-registry.js';
import type {SourceReport} from '../sources/pod-source.js';
import type {ManifestServices} from './manifest-services.js';
import type {PodSourcesSink} from './open-pod-sources.js';
import type {SyncLoopQueue} from './sync-loop-queue.js';

/** Creates the sink of the pod sources, which passes what they read on to the parts of the kubelet. */
export function createSourcesSink({
  queue,
  secrets,
  services,
  logger,
  events,
  podStates,
  keepStaticPod,
}: {
  readonly services: ManifestServices;
  readonly podStates: PodStates;
  readonly keepStaticPod: PodSourcesSink['keepStaticPod'];
  readonly queue: SyncLoopQueue;
  readonly secrets: SecretRegistry;
  readonly logger: Logger;
  readonly events: PodSourcesSink['event'];
}): PodSourcesSink {
  return {
    update: (update) => {
      services.updatePods(update);
      queue.config(update);
    },
    objectsChanged: (objects) => {
      secrets.setObjectValues(objects.flatMap((object) => secretValuesOf(object)));
      services.setObjects(objects);
      queue.objectsChanged();
    },
    report: (report) => {
      logSourceReport(logger.forFile('sources-sink.ts'), report);
    },
    event: events,
    podStates,
    keepStaticPod,
  };
}

function logSourceReport(
  logger: FileLogger,
  {level, message, error, fields, issues, verbosity}: SourceReport,
): void {
  const places = issues.map(({file, line, column}) => `${file}:${line}:${column}`);
  const all = {...fields, ...(places.length > 0 && {places})};
  if (level === 'info') logger.info(message, all, verbosity);
  else logger.error(error, message, all);
}
