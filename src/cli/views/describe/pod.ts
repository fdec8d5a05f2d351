import type {Pod} from '../../../api/v1.js';
import type {Toleration} from '../../../api/v1-scheduling.js';
import {hasEnded, type PodStatus} from '../../../api/v1-status.js';
import {formatRfc1123} from '../../../format/rfc1123.js';
import {ageOf} from '../../../format/short-duration.js';
import type {RecordedEvent} from '../../../kubelet/index.js';
import {containerSection, resourceLines, seccompLines} from './containers.js';
import {alignedText, annotationTexts, beside, indented, labelTexts, NONE} from './lines.js';
import {volumeSection} from './volumes.js';

/** A pod and its events as `kubectl describe pod` shows them (describe.go describePod). */
export function describedPod(pod: Pod, events: readonly RecordedEvent[], nowMs: number): string {
  const {spec, status = {}} = pod;
  const {initContainers = [], ephemeralContainers = []} = spec;
  const lines = [
    ...identityLines(pod),
    ...stateLines(pod, status, nowMs),
    ...(spec.resources ? ['Resources:', ...indented(1, resourceLines(spec.resources))] : []),
    ...(initContainers.length > 0
      ? containerSection('Init Containers', pod, initContainers, status.initContainerStatuses)
      : []),
    ...containerSection('Containers', pod, spec.containers, status.containerStatuses),
    ...(ephemeralContainers.length > 0
      ? containerSection('Ephemeral Containers', pod, ephemeralContainers, status.ephemeralContainerStatuses)
      : []),
    ...conditionLines(pod, status),
    ...volumeSection(spec.volumes),
    `QoS Class:\t${status.qosClass ?? ''}`,
    ...beside('Node-Selectors', labelTexts(spec.nodeSelector)),
    ...beside('Tolerations', tolerationTexts(spec.tolerations)),
  ];
  // kubectl begins the columns anew for the events.
  return events.length === 0
    ? alignedText([...lines, `Events:\t${NONE}`])
    : alignedText(lines) + alignedText(eventLines(events, nowMs));
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
    ...Object.entries(optional).flatMap(([title, value]) =>
      value === undefined || value === '' ? [] : [`${title}:\t${value}`],
    ),
    `Node:\t${nodeName === undefined ? NONE : `${nodeName}/${status?.hostIP ?? ''}`}`,
    ...(status?.startTime === undefined ? [] : [`Start Time:\t${formatRfc1123(status.startTime)}`]),
    ...beside('Labels', labelTexts(metadata.labels)),
    ...beside('Annotations', annotationTexts(metadata.annotations)),
  ];
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

/** What the manifest says controls the pod; here nothing does. */
function ownerLines({metadata}: Pod): readonly string[] {
  const owner = metadata.ownerReferences?.find(({controller}) => controller === true);
  return owner === undefined ? [] : [`Controlled By:\t${owner.kind}/${owner.name}`];
}

function phaseLines({metadata}: Pod, {phase}: PodStatus, nowMs: number): readonly string[] {
  const {deletionTimestamp, deletionGracePeriodSeconds = 0} = metadata;
  if (deletionTimestamp === undefined || hasEnded(phase)) return [`Status:\t${phase ?? ''}`];
  return [
    `Status:\tTerminating (lasts ${ageOf(deletionTimestamp, nowMs)})`,
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
  const rows = latestLast.map((event) =>
    [event.type, event.reason, eventAge(event, nowMs), 'kubelet', event.message.trim()].join('\t'),
  );
  return [
    'Events:',
    ...indented(1, ['Type\tReason\tAge\tFrom\tMessage', '----\t------\t----\t----\t-------', ...rows]),
  ];
}

function eventAge({count, firstTimestamp, lastTimestamp}: RecordedEvent, nowMs: number): string {
  const first = ageOf(firstTimestamp, nowMs);
  return count > 1 ? `${ageOf(lastTimestamp, nowMs)} (x${count} over ${first})` : first;
}
