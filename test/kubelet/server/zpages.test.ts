import {describe, expect, test} from 'vitest';
import {shownFlags} from '../../../src/cli/kubelet/flags.js';
import {askAt, startGround} from './server-ground.js';

const FLAGS = {v: '2', config: '/etc/kubelet.yaml'};
const json = (kind: string, version = 'v1alpha1'): Record<string, string> => ({
  accept: `application/json;v=${version};g=config.k8s.io;as=${kind}`,
});

describe('/statusz', () => {
  test('tells people what runs since when', async () => {
    const {ask} = await startGround();
    const {status, body, headers} = await ask('/statusz');
    expect({status, type: headers['content-type']}).toEqual({
      status: 200,
      type: 'text/plain; charset=utf-8',
    });
    expect(body).toMatch(
      /^\nkubelet statusz\nWarning: This endpoint is not meant to be machine parseable.*\n\n/,
    );
    expect(body).toMatch(/^Started: \w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d UTC \d{4}$/m);
    expect(body).toMatch(/^Up: 0 hr \d\d min \d\d sec$/m);
    expect(body).toMatch(/^Binary version: 1\.2\.3$/m);
    expect(body).toMatch(/^Paths: .*\/configz .*\/flagz \/healthz .*\/statusz$/m);
  });

  test('is an object for programs', async () => {
    const {ask} = await startGround();
    const {body, headers} = await ask('/statusz', {headers: json('Statusz')});
    expect(headers['content-type']).toBe('application/json');
    expect(JSON.parse(body)).toMatchObject({
      kind: 'Statusz',
      apiVersion: 'config.k8s.io/v1alpha1',
      metadata: {name: 'kubelet'},
      startTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) as string,
      uptimeSeconds: expect.any(Number) as number,
      binaryVersion: '1.2.3',
      paths: expect.arrayContaining(['/metrics', '/pods']) as string[],
    });
  });
});

describe('/flagz', () => {
  test('tells people and programs which flags were given', async () => {
    const {ask} = await startGround({options: {program: {version: '1', flags: FLAGS}}});
    expect((await ask('/flagz')).body).toMatch(/\n\nconfig=\/etc\/kubelet\.yaml\nv=2\n$/);
    expect(JSON.parse((await ask('/flagz', {headers: json('Flagz')})).body)).toMatchObject({
      kind: 'Flagz',
      flags: FLAGS,
    });
  });

  test('shows no secret', () => {
    const flags = {
      v: ['2'],
      'manifest-url': ['https://me:hunter2@host/x'],
      'manifest-url-header': ['Authorization:Bearer x'],
      config: undefined,
    };
    expect(shownFlags(flags)).toEqual({
      v: '2',
      'manifest-url': 'https://me:***@host/x',
      'manifest-url-header': 'CLASSIFIED',
    });
  });
});

test.each([
  ['text/plain', 200],
  ['text/html, */*;q=0.8', 200],
  ['application/json', 406],
  [json('Flagz')['accept'], 406],
  [json('Statusz', 'v9')['accept'], 406],
])('/statusz for who takes %s is %i', async (accept = '', status) => {
  const {ask} = await startGround();
  expect((await ask('/statusz', {headers: {accept}})).status).toBe(status);
});

test('the feature gates take them away, and the read-only port has neither', async () => {
  const featureGates = {ComponentStatusz: false, ComponentFlagz: false};
  const {ask} = await startGround({options: {configuration: {featureGates}}});
  expect((await ask('/statusz')).status).toBe(404);
  expect((await ask('/flagz')).status).toBe(404);
  const {servers} = await startGround();
  expect((await askAt(servers.urls.readOnly ?? '', '/flagz')).status).toBe(404);
});
