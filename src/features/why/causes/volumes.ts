import type {PodSnapshot} from '../snapshot/pod-snapshot.js';
import type {Finding} from '../finding.js';
import {explainMessage, quoteMessage, type MessagePattern} from './message-patterns.js';
import {NOT_EXPANDED} from './preparation.js';
import {describeAdvice, eventsOf, eventText, isNews, isSince} from './subject.js';

/**
 * Events of changes of claims, whose last one says whether the change failed. A kubelet that is new on the node mounts the volumes
 * again.
 */
const FAILURES = [
  ...['VolumeResizeFailed', 'VolumeModifyFailed', 'ClaimChangeRefused'],
  ...['FileSystemResizeFailed', 'FailedMount'],
];
const SUCCESSES = ['VolumeResizeSuccessful', 'VolumeModifySuccessful', 'FileSystemResizeSuccessful'];

/** Causes of volumes that do not become what their claims ask for. */
const PATTERNS: readonly MessagePattern<PodSnapshot>[] = [
  NOT_EXPANDED,
  {
    rule: 'claim-refused',
    pattern: /PersistentVolumeClaim "([^"]+)" is invalid: (.*)/s,
    cause: ([, claim = '', why = '']) => `the change of the claim ${claim} is refused: ${why.trim()}`,
    tries: () => ['correct the claim in its manifest'],
  },
  {
    rule: 'volume-not-expanded',
    pattern:
      /NodeExpandVolume failed for volume "([^"]+)" ?:? ?(.*)|resize volume "([^"]+)" by resizer "[^"]+" failed: (.*)/s,
    cause: ([, volume = '', why = '', other = '', reason = '']) =>
      `volume ${volume === '' ? other : volume} cannot be enlarged: ${(why === '' ? reason : why).trim()}`,
    tries: NOT_EXPANDED.tries,
  },
];

/** Notices a pod that runs with a volume which does not become what its claim asks for. */
export function noticeVolumes(snapshot: PodSnapshot): Finding | undefined {
  const [newest] = eventsOf(snapshot, undefined, ...FAILURES, ...SUCCESSES);
  if (newest === undefined || SUCCESSES.includes(newest.reason)) return undefined;
  const {reason, message, lastTimestamp} = newest;
  // A claim that was corrected leaves no event.
  if (!isNews(lastTimestamp, snapshot)) return undefined;
  const known = explainMessage(PATTERNS, message, snapshot);
  // A volume that could not be mounted at first, and was before the last start, is well.
  if (reason === 'FailedMount' && (known === undefined || !isSince(newest, lastStartOf(snapshot))))
    return undefined;
  return {
    ...(known ?? unknownCause(reason, message, snapshot)),
    severity: 'warning',
    evidence: [eventText(newest, snapshot), quoteMessage(message)],
    next: 'the containers run on with the volume as it is',
  };
}

function unknownCause(
  reason: string,
  message: string,
  snapshot: PodSnapshot,
): Pick<Finding, 'rule' | 'cause' | 'tries'> {
  if (reason === 'VolumeModifyFailed')
    return {
      rule: 'volume-not-modified',
      cause: `the attributes of a volume cannot be changed: ${quoteMessage(message)}`,
      tries: [
        "correct volumeAttributesClassName of the claim, or look into the log of the volume's CSI driver",
      ],
    };
  return {
    rule: 'volume-not-expanded',
    cause: `a volume cannot be enlarged: ${quoteMessage(message)}`,
    tries: [describeAdvice(snapshot)],
  };
}

/** Returns the time of the last start of a container that runs; undefined if none does. */
function lastStartOf({pod: {status = {}}}: PodSnapshot): string | undefined {
  return [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]
    .flatMap(({state}) => state?.running?.startedAt ?? [])
    .toSorted((a, b) => Date.parse(a) - Date.parse(b))
    .at(-1);
}
