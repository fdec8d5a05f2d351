import {expect, test} from 'vitest';
import {answersJson, answerWhy, isWrong} from '../../../src/features/why/answer.js';
import {answersText} from '../../../src/features/why/answer-text.js';
import type {NodeState} from '../../../src/features/why/node-answer.js';
import type {PodSnapshot} from '../../../src/features/why/snapshot/pod-snapshot.js';
import {anExit, aSnapshot, aStatusPod, aWaiting} from './a-snapshot.js';

const text = (...snapshots: readonly PodSnapshot[]): string =>
  answersText({node: undefined, pods: snapshots.map((each) => answerWhy(each)), count: snapshots.length}, [
    'kcri',
  ]);

test('an answer has the state, and a line for each part', () => {
  const containers = {main: {log: ['starting', 'no database']}};
  const unread = [{what: 'kernel log', reason: '/dev/kmsg: permission denied'}];
  expect(text(anExit({exitCode: 1}, {containers, unread}), aSnapshot())).toBe(
    `default/web  CrashLoopBackOff, restarted 6 times in 9 minutes
cause      container main ended by itself with exit code 1; its last line: no database
evidence   exit code 1, at 12:40:11 (4m49s ago)
log        starting
           no database
next       starts again at about 12:45:11 (back-off 5m since the last exit)
try        kcri logs default/web/main
not read   kernel log: /dev/kmsg: permission denied

default/web  Running, 1/1 ready: nothing is wrong
`,
  );
});

test('controls of hostile texts never reach the terminal, and keep their line', () => {
  const message = 'a\u001b[31mb\nc\u202ed';
  const shown = text(aWaiting('ErrImagePull', `${message}: not found`));
  expect(shown).not.toMatch(/[^\P{Cc}\n]|\u202e/u);
  expect(shown).toContain(String.raw`a\x1b[31mb\nc\u202ed`);
});

test('commands are quoted for the shell and lead to the same node', () => {
  const pod = aStatusPod([
    {
      image: "x'$(reboot)",
      state: {waiting: {reason: 'ErrImageNeverPull', message: 'is not present with pull policy of Never'}},
    },
  ]);
  const answers = {node: undefined, pods: [answerWhy(aSnapshot({pod}))], count: 1};
  expect(answersText(answers, ['kcri', '-r', 'ssh://node 1'])).toContain(
    String.raw`try        kcri -r 'ssh://node 1' pull 'x'\''$(reboot)'`,
  );
});

test('JSON has the findings of each pod', () => {
  const answer = answerWhy(anExit({exitCode: 127}), 'main');
  expect(answersJson({node: undefined, pods: [answer], count: 1}, ['kcri'])).toMatchObject({
    items: [
      {
        namespace: 'default',
        pod: 'web',
        container: 'main',
        state: 'CrashLoopBackOff, restarted 6 times in 9 minutes',
        wrong: true,
        findings: [
          {
            rule: 'command-not-found-in-shell',
            severity: 'problem',
            inferredFrom: 'exit code 127, with which shells say "not found"',
            try: ['kcri logs default/web/main'],
          },
        ],
      },
    ],
  });
});

test('a node is told with its own problems and a line for each pod that is not well', () => {
  const node: NodeState = {
    name: 'n1',
    findings: [
      {
        rule: 'cni-not-ready',
        severity: 'problem',
        cause: 'NetworkReady is false',
        evidence: [],
        tries: ['look'],
      },
    ],
  };
  const pods = [answerWhy(anExit({exitCode: 2})), answerWhy(aWaiting('ContainerCreating'))];
  expect(pods.map(isWrong)).toEqual([true, false]);
  expect(answersText({node, pods, count: 7}, ['kcri'])).toBe(
    `node n1  not well; 7 pods, 1 not well
cause      NetworkReady is false
try        look
default/web  CrashLoopBackOff, restarted 6 times in 9 minutes: container main ended by itself with exit code 2, which many programs use for wrong arguments
`,
  );
  expect(answersText({node: {...node, findings: []}, pods: [], count: 1}, [])).toBe(
    'node n1  1 pod, all well\n',
  );
});

test('a pod that nothing runs says which command runs it', () => {
  expect(text(anExit({exitCode: 1}, {isUnattended: true}))).toContain('           kcri sync web.yaml\n');
});
