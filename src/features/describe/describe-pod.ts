import {isPartial, MANAGER_ANNOTATION, PARTIAL_ANNOTATION} from '../../api/manager-annotation.js';
import type {Pod} from '../../api/types/v1-pod.js';
import type {Toleration} from '../../api/types/v1-scheduling.js';
import {hasEnded, type PodStatus} from '../../api/types/v1-status.js';
import {omit} from '../../base/omit.js';
import {formatRfc1123} from '../../format/rfc1123.js';
import {formatAgeSince} from '../../format/age.js';
import type {RecordedEvent} from '../../kubelet/index.js';
import {eventContainer} from '../events/event-container.js';
import {managerText} from '../pods/pod-row.js';
import {containerSection, resourceLines, seccompLines} from './describe-containers.js';
import {
  alignLines,
  annotationTexts,
  besideTitle,
  indentLines,
  labelTexts,
  NONE,
} from '../../cli/output/views/aligned-lines.js';
import {volumeSection} from './describe-volumes.js';

/** Facts about a pod beside its Pod object. */
export interface PodDetails {
  readonly events: readonly RecordedEvent[];
  /** Last log lines of failed containers by name. */
  readonly logs?: ReadonlyMap<string, readonly string[]>;
}

/** Describes a pod and its events like `kubectl describe pod` (describe.go describePod). */
export function describePod(pod: Pod, {events, logs = new Map()}: PodDetails, nowMs: number): string {
  const {spec, status = {}} = pod;
  const {initContainers = [], ephemeralContainers = []} = spec;
  const lines = [
    ...identityLines(pod),
    ...stateLines(pod, status, nowMs),
    ...(spec.resources ? ['Resources:', ...indentLines(1, resourceLines(spec.resources))] : []),
    ...(initContainers.length > 0
      ? containerSection('Init Containers', pod, initContainers, {
          statuses: status.initContainerStatuses,
          logs,
        })
      : []),
    ...containerSection('Containers', pod, spec.containers, {statuses: status.containerStatuses, logs}),
    ...(ephemeralContainers.length > 0
      ? containerSection('Ephemeral Containers', pod, ephemeralContainers, {
          statuses: status.ephemeralContainerStatuses,
          logs,
        })
      : []),
    ...conditionLines(pod, status),
    ...(isPartial(pod) ? [] : scheduleLines(pod, status)),
  ];
  // kubectl aligns the columns of the events separately.
  return events.length === 0
    ? alignLines([...lines, `Events:\t${isForeign(pod) ? '<not stored by kcri>' : NONE}`])
    : alignLines(lines) + alignLines(eventLines(events, nowMs));
}

function scheduleLines({spec}: Pod, status: PodStatus): readonly string[] {
  return [
    ...volumeSection(spec.volumes),
    `QoS Class:\t${status.qosClass ?? ''}`,
    ...besideTitle('Node-Selectors', labelTexts(spec.nodeSelector)),
    ...besideTitle('Tolerations', tolerationTexts(spec.tolerations)),
  ];
}

/** Reports whether another program manages the pod. */
function isForeign({metadata}: Pod): boolean {
  return metadata.annotations?.[MANAGER_ANNOTATION] !== undefined;
}

function identityLines({metadata, spec, status}: Pod): readonly string[] {
  const {priority, priorityClassName, runtimeClassName, serviceAccountName, nodeName} = spec;
  const optional = {
    Priority: priority,
    'Priority Class Name': priorityClassName,
    'Runtime Class Name': runtimeClassName,
    'Service Account': serviceAccountName,
  };
  return [
    `Name:\t${metadata.name ?? ''}`,
    `Namespace:\t${metadata.namespace ?? ''}`,
    ...(managerText({metadata}) === 'kcri' ? [] : [`Manager:\t${managerText({metadata})}`]),
    ...Object.entries(optional).flatMap(([title, value]) =>
      value === undefined || value === '' ? [] : [`${title}:\t${value}`],
    ),
    `Node:\t${nodeName === undefined ? NONE : `${nodeName}/${status?.hostIP ?? ''}`}`,
    ...(status?.startTime === undefined ? [] : [`Start Time:\t${formatRfc1123(status.startTime)}`]),
    ...besideTitle('Labels', labelTexts(metadata.labels)),
    ...besideTitle('Annotations', annotationTexts(shownAnnotations(metadata.annotations))),
  ];
}

/** Returns the annotations without those that kcri adds. */
function shownAnnotations(
  annotations: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  return omit(annotations, MANAGER_ANNOTATION, PARTIAL_ANNOTATION);
}

function stateLines(pod: Pod, status: PodStatus, nowMs: number): readonly string[] {
  const {reason, message, podIP = '', podIPs = [], nominatedNodeName} = status;
  return [
    ...phaseLines(pod, status, nowMs),
    ...(reason === undefined ? [] : [`Reason:\t${reason}`]),
    ...(message === undefined ? [] : [`Message:\t${message}`]),
    ...seccompLines(pod.spec.securityContext?.seccompProfile),
    `IP:\t${podIP}`,
    podIPs.length === 0 ? `IPs:\t${NONE}` : 'IPs:',
    ...podIPs.map(({ip}) => `  IP:\t${ip}`),
    ...ownerLines(pod),
    ...(nominatedNodeName === undefined ? [] : [`NominatedNodeName:\t${nominatedNodeName}`]),
  ];
}

/** Describes the controller that the manifest names. */
function ownerLines({metadata}: Pod): readonly string[] {
  const owner = metadata.ownerReferences?.find(({controller}) => controller === true);
  return owner === undefined ? [] : [`Controlled By:\t${owner.kind}/${owner.name}`];
}

function phaseLines({metadata}: Pod, {phase}: PodStatus, nowMs: number): readonly string[] {
  const {deletionTimestamp, deletionGracePeriodSeconds = 0} = metadata;
  if (deletionTimestamp === undefined || hasEnded(phase)) return [`Status:\t${phase ?? ''}`];
  return [
    `Status:\tTerminating (lasts ${formatAgeSince(deletionTimestamp, nowMs)})`,
    `Termination Grace Period:\t${deletionGracePeriodSeconds}s`,
  ];
}

function conditionLines({spec}: Pod, {conditions = []}: PodStatus): readonly string[] {
  const gates = (spec.readinessGates ?? []).map(({conditionType}) => {
    const condition = conditions.find(({type}) => type === conditionType);
    return `  ${conditionType} \t${condition?.status ?? NONE} `;
  });
  const rows = conditions.map(({type, status}) => `  ${type} \t${status} `);
  return [
    ...(gates.length === 0 ? [] : ['Readiness Gates:', '  Type\tStatus', ...gates]),
    ...(rows.length === 0 ? [] : ['Conditions:', '  Type\tStatus', ...rows]),
  ];
}

function tolerationTexts(tolerations: readonly Toleration[] = []): readonly string[] {
  return tolerations.toSorted((a, b) => ((a.key ?? '') < (b.key ?? '') ? -1 : 1)).map(tolerationText);
}

function tolerationText({key = '', value = '', effect, operator, tolerationSeconds}: Toleration): string {
  const what = `${key}${value === '' ? '' : `=${value}`}${effect === undefined ? '' : `:${effect}`}`;
  const words = [
    ...(what === '' ? [] : [what]),
    ...(operator === 'Exists' && value === '' ? ['op=Exists'] : []),
    ...(tolerationSeconds === undefined ? [] : [`for ${tolerationSeconds}s`]),
  ];
  return words.join(' ');
}

function eventLines(events: readonly RecordedEvent[], nowMs: number): readonly string[] {
  const latestLast = events.toSorted((a, b) => Date.parse(a.lastTimestamp) - Date.parse(b.lastTimestamp));
  const hasContainers = events.some((event) => eventContainer(event) !== undefined);
  const row = (cells: readonly string[], container: string, message: string): string =>
    [...cells, ...(hasContainers ? [container] : []), message].join('\t');
  const rows = latestLast.map((event) =>
    row(
      [event.type, event.reason, eventAge(event, nowMs), 'kubelet'],
      eventContainer(event) ?? '',
      event.message.trim(),
    ),
  );
  return [
    'Events:',
    ...indentLines(1, [
      row(['Type', 'Reason', 'Age', 'From'], 'Container', 'Message'),
      row(['----', '------', '----', '----'], '---------', '-------'),
      ...rows,
    ]),
  ];
}

function eventAge({count, firstTimestamp, lastTimestamp}: RecordedEvent, nowMs: number): string {
  const first = formatAgeSince(firstTimestamp, nowMs);
  return count > 1 ? `${formatAgeSince(lastTimestamp, nowMs)} (x${count} over ${first})` : first;
}
