import {describe, expect, test} from 'vitest';
import {parseListenAddresses} from '../../../src/streaming/port-forward/listen-addresses.js';
import {parsePortSpec} from '../../../src/streaming/port-forward/port-spec.js';

describe('ports', () => {
  test.each([
    ['8080', {local: 8080, remote: 8080}],
    ['8080:80', {local: 8080, remote: 80}],
    [':80', {local: 0, remote: 80}],
    ['0:80', {local: 0, remote: 80}],
    ['08080:00080', {local: 8080, remote: 80}],
    ['65535:65535', {local: 65_535, remote: 65_535}],
  ])('"%s" is accepted', (text, spec) => {
    expect(parsePortSpec(text)).toEqual(spec);
  });

  test.each([
    ['', {kind: 'syntax', side: 'local', text: ''}],
    ['abc', {kind: 'syntax', side: 'local', text: 'abc'}],
    ['-1:80', {kind: 'syntax', side: 'local', text: '-1'}],
    ['+80:80', {kind: 'syntax', side: 'local', text: '+80'}],
    [' 80', {kind: 'syntax', side: 'local', text: ' 80'}],
    ['8080:', {kind: 'syntax', side: 'remote', text: ''}],
    ['8080:1e2', {kind: 'syntax', side: 'remote', text: '1e2'}],
    ['65536', {kind: 'range', side: 'local', text: '65536'}],
    ['80:99999999999999999999999', {kind: 'range', side: 'remote', text: '99999999999999999999999'}],
    ['8080:80:90', {kind: 'format', text: '8080:80:90'}],
    ['0', {kind: 'no-remote', text: '0'}],
    ['8080:0', {kind: 'no-remote', text: '8080:0'}],
  ])('"%s" is rejected', (text, fault) => {
    expect(parsePortSpec(text)).toEqual(fault);
  });
});

describe('addresses', () => {
  test('localhost is one group of both loopback addresses', () => {
    expect(parseListenAddresses(['localhost'])).toEqual({
      groups: [{name: 'localhost', addresses: ['127.0.0.1', '::1']}],
    });
  });

  test('each address is opened once, whatever its name', () => {
    expect(parseListenAddresses(['::1', 'localhost', '[::1]', '0.0.0.0', '127.0.0.1'])).toEqual({
      groups: [
        {name: '::1', addresses: ['::1']},
        {name: 'localhost', addresses: ['127.0.0.1']},
        {name: '0.0.0.0', addresses: ['0.0.0.0']},
      ],
    });
  });

  test.each(['example.com', '300.1.1.1', '', '127.0.0.1:80'])('"%s" is rejected', (bad) => {
    expect(parseListenAddresses(['localhost', bad])).toEqual({bad});
  });
});
