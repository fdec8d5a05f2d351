import type {ContainerStateTerminated} from '../../../api/types/v1-status.js';
import type {Advice, Finding} from '../finding.js';
import {explainLog} from './log-lines.js';
import {quoteMessage} from './message-patterns.js';
import {nextStart} from './next-start.js';
import {restartedWithPod, ruleEffect} from './restart-rules.js';
import {
  eventsOf,
  eventText,
  exitText,
  isSince,
  logAdvice,
  logOf,
  signalOf,
  timeText,
  titleOf,
  type ContainerRule,
  type ContainerSubject,
} from './subject.js';

type Exited = ContainerSubject & {readonly exit: ContainerStateTerminated};
type Explanation = Pick<Finding, 'rule' | 'cause' | 'inferredFrom'> & {
  readonly evidence?: readonly string[];
  readonly tries?: readonly Advice[];
};

/** Causes of exits, in the order of their priority; the last one always applies. */
const EXITS: readonly ((subject: Exited) => Explanation | undefined)[] = [
  rebooted,
  lostByRuntime,
  restartedWithPod,
  sandboxChanged,
  killedByProbe,
  completed,
  notFoundByShell,
  notExecutableByShell,
  killedBySignal,
  explainLog,
  failedByItself,
];

/** Explains a container whose last instance has exited, and that should run. */
export const explainExit: ContainerRule = (subject) => {
  const {name, exit, snapshot} = subject;
  if (exit === undefined) return undefined;
  const exited = {...subject, exit};
  for (const explain of EXITS) {
    const found = explain(exited);
    if (found === undefined) continue;
    const {evidence = [], tries = [], ...rest} = found;
    const effect = ruleEffect(subject);
    return {
      severity: 'problem',
      container: name,
      ...rest,
      evidence: [exitText(exit, snapshot), ...evidence, ...(effect === undefined ? [] : [effect.text])],
      ...logOf(subject),
      ...nextStart(subject),
      tries: [...tries, logAdvice(subject)],
    };
  }
  return undefined;
};

/** The node booted after the instance had started: the exit code is one that the runtime made up. */
function rebooted({exit, snapshot}: Exited): Explanation | undefined {
  const {bootedAt} = snapshot.node;
  const {startedAt, finishedAt} = exit;
  if (bootedAt === undefined || startedAt === undefined || finishedAt === undefined) return undefined;
  const [boot, start, end] = [bootedAt, startedAt, finishedAt].map((time) => Date.parse(time));
  if (boot === undefined || start === undefined || end === undefined) return undefined;
  // A start at the epoch means that it never started. An exit well before the boot has another cause.
  if (start <= 0 || start >= boot || end < boot) return undefined;
  return {
    rule: 'node-rebooted',
    cause: 'the node was rebooted while the container ran',
    inferredFrom: 'it had started before the boot and was found dead after it',
    evidence: [`the node booted ${timeText(bootedAt, snapshot)}`, `started ${timeText(startedAt, snapshot)}`],
  };
}

/** Exit code that containerd gives to containers that it finds dead at its start. */
const UNKNOWN_EXIT = 255;

/** The process ended while the runtime did not run, so that nothing saw its exit code. */
function lostByRuntime({exit, snapshot}: Exited): Explanation | undefined {
  if (exit.reason !== 'Unknown' || exit.exitCode !== UNKNOWN_EXIT) return undefined;
  const {runtimeStartedAt} = snapshot.node;
  return {
    rule: 'runtime-restarted',
    cause: 'the container ended while the runtime did not run; its exit code is not known',
    inferredFrom:
      'the runtime reports exit code 255 with reason Unknown, as for containers that it finds dead at its start',
    evidence:
      runtimeStartedAt === undefined ? [] : [`the runtime started ${timeText(runtimeStartedAt, snapshot)}`],
    tries: [
      'journalctl -u containerd -u crio -n 50',
      'check that stopping the runtime does not stop containers (KillMode=process of its service)',
    ],
  };
}

/** Longest time from the event about a sandbox to the exits of its containers, in ms. */
const WITH_SANDBOX_MS = 60_000;
/** Times of exits have whole seconds. */
const SECOND_MS = 1000;

/** The kubelet replaced the sandbox, and so all containers in it. */
function sandboxChanged({exit, snapshot}: Exited): Explanation | undefined {
  const [event] = eventsOf(snapshot, undefined, 'SandboxChanged');
  if (event === undefined || exit.finishedAt === undefined) return undefined;
  const after = Date.parse(exit.finishedAt) - Date.parse(event.lastTimestamp);
  if (!(after > -SECOND_MS && after < WITH_SANDBOX_MS)) return undefined;
  return {
    rule: 'sandbox-changed',
    cause:
      'the sandbox of the pod ended or had to change, so that the kubelet replaced it with all its containers',
    inferredFrom: 'the event SandboxChanged at the time of the exit',
    evidence: [eventText(event, snapshot)],
    tries: [
      'look for what ended the pause process of the sandbox: the runtime, its shim, or the kernel',
      {kcri: ['events']},
    ],
  };
}

/** A liveness or startup probe failed, and the kubelet killed it. */
function killedByProbe({snapshot, name, exit}: Exited): Explanation | undefined {
  const [killing] = eventsOf(snapshot, name, 'Killing');
  const probe = /failed (liveness|startup) probe/.exec(killing?.message ?? '')?.[1];
  if (killing === undefined || probe === undefined || !isSince(killing, exit.startedAt)) return undefined;
  const unhealthy = eventsOf(snapshot, name, 'Unhealthy').filter(({message}) =>
    message.toLowerCase().startsWith(`${probe} probe`),
  );
  const [last] = unhealthy;
  const output = last?.message.replace(/^\w+ probe (?:failed|errored)[^:]*: /, '').trim();
  return {
    rule: `${probe}-probe-failed`,
    cause: `the kubelet killed ${name} since its ${probe} probe failed${output === undefined ? '' : `: ${output}`}`,
    evidence: [eventText(killing, snapshot), ...(last === undefined ? [] : [eventText(last, snapshot)])],
    tries: [
      `correct the ${probe} probe, or raise its timeoutSeconds, failureThreshold or initialDelaySeconds`,
    ],
  };
}

function completed(subject: Exited): Explanation | undefined {
  if (subject.exit.exitCode !== 0) return undefined;
  return {
    rule: 'completed',
    cause: `the command of ${titleOf(subject)} ends with success, and the pod wants it to run for ever`,
    inferredFrom: 'exit code 0',
    tries: ['set restartPolicy to OnFailure or Never if it should end, or a command that does not end'],
  };
}

/** Exit codes by which shells and env report commands that they could not run. */
function notFoundByShell(subject: Exited): Explanation | undefined {
  if (subject.exit.exitCode !== 127) return undefined;
  const inLog = explainLog(subject);
  if (inLog?.rule === 'library-missing') return inLog;
  const line = subject.facts.log?.findLast((text) => /not found|no such file/i.test(text));
  return {
    rule: 'command-not-found-in-shell',
    cause:
      line === undefined
        ? `a command or library that ${titleOf(subject)} runs is probably missing in its image`
        : `a command or library that ${titleOf(subject)} runs is missing: ${line}`,
    inferredFrom: `exit code 127, with which shells say "not found"${line === undefined ? '' : ', and its log'}`,
  };
}

function notExecutableByShell(subject: Exited): Explanation | undefined {
  if (subject.exit.exitCode !== 126) return undefined;
  const line = subject.facts.log?.findLast((text) =>
    /permission denied|exec format|cannot execute/i.test(text),
  );
  return {
    rule: 'command-not-executable-in-shell',
    cause: `a command that ${titleOf(subject)} runs ${line === undefined ? 'probably cannot be executed' : `cannot be executed: ${line}`}`,
    inferredFrom: `exit code 126, with which shells say "cannot execute"${line === undefined ? '' : ', and its log'}`,
  };
}

/** Usual meanings of signals; the sender of a signal is not recorded anywhere. */
const SIGNAL_MEANINGS: Readonly<Record<string, string>> = {
  SIGABRT: 'it aborted itself, as after a failed assertion',
  SIGBUS: 'it accessed memory that it could not, as after a full disk or a truncated file',
  SIGFPE: 'it made an invalid calculation, such as a division by zero',
  SIGILL: 'it ran an instruction that this CPU does not have',
  SIGSEGV: 'it crashed by accessing memory that it may not',
  SIGSYS: 'it made a system call that its seccomp profile does not allow',
};

function killedBySignal(subject: Exited): Explanation | undefined {
  const signal = signalOf(subject.exit);
  if (signal === undefined) return undefined;
  const code = subject.exit.exitCode;
  const inferredFrom = `exit code ${code}, which is 128 + ${code - 128}; a program may also exit with it by itself`;
  const meaning = SIGNAL_MEANINGS[signal];
  if (meaning !== undefined)
    return {rule: 'crashed', cause: `${titleOf(subject)} ended by ${signal}: ${meaning}`, inferredFrom};
  const stopping = eventsOf(subject.snapshot, subject.name, 'Killing')[0];
  return {
    rule: 'killed',
    cause: `${titleOf(subject)} was ended by ${signal}, not for memory; who sent it is unknown`,
    inferredFrom: `${inferredFrom}; neither the runtime nor the kernel's log reports an OOM kill`,
    evidence: stopping === undefined ? [] : [`${eventText(stopping, subject.snapshot)}: ${stopping.message}`],
    tries: ['look for who stops it: an operator, an agent, or a process of the container itself'],
  };
}

/** Usual meanings of exit codes. */
const CODE_MEANINGS: Readonly<Record<number, string>> = {
  2: ', which many programs use for wrong arguments',
};

function failedByItself(subject: Exited): Explanation {
  const {exit, facts} = subject;
  const {exitCode, message = ''} = exit;
  const last = facts.log?.at(-1);
  const wrote = last === undefined ? '' : `; its last line: ${last}`;
  return {
    rule: 'failed',
    cause: `${titleOf(subject)} ended by itself with exit code ${exitCode}${CODE_MEANINGS[exitCode] ?? ''}${wrote}`,
    ...(message !== '' && {evidence: [`termination message ${quoteMessage(message)}`]}),
  };
}
