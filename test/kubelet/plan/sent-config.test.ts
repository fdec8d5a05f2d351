import {expect, test} from 'vitest';
import type {Container} from '../../../src/api/types/v1-pod.js';
import {hideSecretValues} from '../../../src/kubelet/plan/sent-config.js';
import {aContainer, aPod} from '../pod-builders.js';

const CONFIG = {
  args: ['hunter2'],
  envs: [
    {key: 'PASS', value: 'hunter2'},
    {key: 'COLOR', value: 'blue'},
  ],
};

function shown(fields: Partial<Container>): unknown {
  return hideSecretValues(CONFIG, [aPod({containers: [aContainer(fields)]})], 'main');
}

const env = [
  {name: 'PASS', valueFrom: {secretKeyRef: {name: 's', key: 'k'}}},
  {name: 'COLOR', value: 'blue'},
];

test('a command line that repeats a Secret’s value is hidden with it', () => {
  expect(shown({env, args: ['$(PASS)']})).toEqual({
    command: ['<hidden>'],
    args: ['<hidden>'],
    envs: [{key: 'PASS', value: '<hidden>'}, CONFIG.envs[1]],
  });
});

test('any other command line is shown', () => {
  expect(shown({env, args: ['$PASS']})).toMatchObject({args: ['hunter2']});
  expect(shown({args: ['$(COLOR)']})).toEqual(CONFIG);
});

test('a value from a file may be secret, and what repeats it is hidden with it', () => {
  const fileKeyRef = {volumeName: 'v', path: 'a.env', key: 'k'};
  const fromFile = [
    {name: 'PASS', valueFrom: {fileKeyRef}},
    {name: 'COLOR', value: '$(PASS)'},
  ];

  expect(shown({env: fromFile, args: ['$(PASS)']})).toEqual({
    command: ['<hidden>'],
    args: ['<hidden>'],
    envs: CONFIG.envs.map(({key}) => ({key, value: '<hidden>'})),
  });
});
