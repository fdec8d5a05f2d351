import {describe, expect, test} from 'vitest';
import {redactFlags} from '../../../../src/features/kubelet/kubelet-flags.js';
import {requestAt, startServerTestbed} from '../server-testbed.js';

const FLAGS = {v: '2', config: '/etc/kubelet.yaml'};
const structured = (kind: string, version = 'v1beta1', format = 'json'): Record<string, string> => ({
  accept: `application/${format};v=${version};g=config.k8s.io;as=${kind}`,
});

describe('/statusz', () => {
  test('shows version, start time and paths as text', async () => {
    const {request} = await startServerTestbed();
    const {status, body, headers} = await request('/statusz');
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

  test.each(['v1alpha1', 'v1beta1'])('shows the same as JSON and YAML of %s', async (version) => {
    const {request} = await startServerTestbed();
    const {body, headers} = await request('/statusz', {headers: structured('Statusz', version)});
    expect(headers['content-type']).toBe('application/json');
    const yaml = await request('/statusz', {headers: structured('Statusz', version, 'yaml')});
    expect(yaml.headers['content-type']).toBe('application/yaml');
    expect(yaml.body).toMatch(new RegExp(`^apiVersion: config.k8s.io/${version}\nbinaryVersion: 1.2.3\n`));
    expect(yaml.headers.warning).toBe(headers.warning);
    expect(headers.warning).toBe(
      version === 'v1alpha1'
        ? '299 - "This version of the statusz endpoint is deprecated. Please use a newer version."'
        : undefined,
    );
    expect(JSON.parse(body)).toMatchObject({
      kind: 'Statusz',
      apiVersion: `config.k8s.io/${version}`,
      metadata: {name: 'kubelet'},
      startTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) as string,
      uptimeSeconds: expect.any(Number) as number,
      binaryVersion: '1.2.3',
      paths: expect.arrayContaining(['/metrics', '/pods']) as string[],
    });
  });
});

describe('/flagz', () => {
  test('shows the flags as text and JSON', async () => {
    const {request} = await startServerTestbed({options: {program: {version: '1', flags: FLAGS}}});
    expect((await request('/flagz')).body).toMatch(/\n\nconfig=\/etc\/kubelet\.yaml\nv=2\n$/);
    expect(JSON.parse((await request('/flagz', {headers: structured('Flagz')})).body)).toMatchObject({
      kind: 'Flagz',
      flags: FLAGS,
    });
  });

  test('redacts secrets', () => {
    const flags = {
      v: ['2'],
      'manifest-url': ['https://me:hunter2@host/x?token=hunter2', 'htps//hunter2@host/?hunter2'],
      'manifest-url-header': ['Authorization:Bearer x'],
      config: undefined,
    };
    expect(redactFlags(flags)).toEqual({
      v: '2',
      'manifest-url': 'https://me:***@host/x?token=***,htps//***@host/?***',
      'manifest-url-header': 'CLASSIFIED',
    });
  });
});

test.each([
  ['text/plain', 200],
  ['text/html, */*;q=0.8', 200],
  ['application/json', 406],
  ['application/yaml', 406],
  [structured('Flagz')['accept'], 406],
  [structured('Statusz', 'v9')['accept'], 406],
  [`${structured('Statusz', 'v9')['accept']},${structured('Statusz')['accept']}`, 200],
])('/statusz with Accept: %s is %i', async (accept = '', status) => {
  const {request} = await startServerTestbed();
  expect((await request('/statusz', {headers: {accept}})).status).toBe(status);
});

test('feature gates disable the pages, and the read-only port does not serve them', async () => {
  const featureGates = {ComponentStatusz: false, ComponentFlagz: false};
  const {request} = await startServerTestbed({options: {configuration: {featureGates}}});
  expect((await request('/statusz')).status).toBe(404);
  expect((await request('/flagz')).status).toBe(404);
  const {servers} = await startServerTestbed();
  expect((await requestAt(servers.urls.readOnly ?? '', '/flagz')).status).toBe(404);
});
