import {describe, expect, test} from 'vitest';
import {issueMessages, containerIssues, testValidation} from '../validation-cases.js';

describe('probes and hooks', () => {
  testValidation(containerIssues, [
    ['livenessProbe: {}', 'C.livenessProbe: Required value: must specify a handler type'],
    ['livenessProbe: {exec: {}}', 'C.livenessProbe.exec.command: Required value'],
    [
      'livenessProbe: {exec: {command: [x]}, tcpSocket: {port: 1}}',
      'C.livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type',
    ],
    [
      'livenessProbe: {tcpSocket: {port: 0}}',
      'C.livenessProbe.tcpSocket.port: Invalid value: 0: must be between 1 and 65535, inclusive',
    ],
    [
      'startupProbe: {grpc: {port: 99999}}',
      'C.startupProbe.grpc.port: Invalid value: 99999: must be between 1 and 65535, inclusive',
    ],
    [
      'readinessProbe: {httpGet: {port: http, path: /x, scheme: HTTPS, httpHeaders: [{name: X-A, value: b}]}, successThreshold: 3}',
    ],
    [
      'readinessProbe: {httpGet: {port: HTTP, scheme: FTP, httpHeaders: [{name: a b, value: c}]}, terminationGracePeriodSeconds: 5}',
      'C.readinessProbe.httpGet.port: Invalid value: "HTTP": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
      'C.readinessProbe.httpGet.port: Invalid value: "HTTP": must contain at least one letter (a-z)',
      'C.readinessProbe.httpGet.scheme: Unsupported value: "FTP": supported values: "HTTP", "HTTPS"',
      `C.readinessProbe.httpGet.httpHeaders[0].name: Invalid value: "a b": a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')`,
      'C.readinessProbe.terminationGracePeriodSeconds: Invalid value: 5: must not be set for readinessProbes',
    ],
    [
      'livenessProbe: {exec: {command: [x]}, periodSeconds: -1, successThreshold: 2, terminationGracePeriodSeconds: 0}',
      'C.livenessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0',
      'C.livenessProbe.successThreshold: Invalid value: 2: must be 1',
      'C.livenessProbe.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0',
    ],
    ['lifecycle: {preStop: {sleep: {seconds: 30}}, postStart: {exec: {command: [x]}}}'],
    [
      'lifecycle: {preStop: {sleep: {seconds: 31}}, postStart: {}}',
      'C.lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds (30)',
      'C.lifecycle.postStart: Required value: must specify a handler type',
    ],
    [
      'lifecycle: {stopSignal: SIGTERM}',
      'C.lifecycle.stopSignal: Forbidden: may not be set for containers with empty `spec.os.name`',
    ],
  ]);

  test("accept the signals of the pod's operating system", () => {
    const withSignal = (os: string, signal: string): string[] =>
      issueMessages(
        `apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {os: {name: ${os}}, containers: [{name: c, image: i, lifecycle: {stopSignal: ${signal}}}]}\n`,
      );
    expect(withSignal('linux', 'SIGRTMIN+15')).toEqual([]);
    expect(withSignal('linux', 'SIGRTMAX-14')).toEqual([]);
    expect(withSignal('linux', 'SIGRTMAX-15')).toEqual([
      expect.stringContaining('Unsupported value: "SIGRTMAX-15"'),
    ]);
    expect(withSignal('linux', 'TERM')).toEqual([
      expect.stringContaining('supported values: "SIGABRT", "SIGALRM"'),
    ]);
    expect(withSignal('windows', 'SIGHUP')).toEqual([
      expect.stringContaining('supported values: "SIGKILL", "SIGTERM"'),
    ]);
  });
});

describe('security context of a container', () => {
  testValidation(containerIssues, [
    [
      'securityContext: {runAsUser: -1}',
      'C.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive',
    ],
    [
      'securityContext: {procMount: Unmasked}',
      'C.securityContext.procMount: Invalid value: "Unmasked": `hostUsers` must be false to use `Unmasked`',
    ],
    [
      'securityContext: {procMount: Hidden}',
      'C.securityContext.procMount: Unsupported value: "Hidden": supported values: "Default", "Unmasked"',
    ],
    [
      'securityContext: {allowPrivilegeEscalation: false, privileged: true, capabilities: {add: [CAP_SYS_ADMIN]}}',
      'C.securityContext.allowPrivilegeEscalation: Invalid value: false: cannot set `allowPrivilegeEscalation` to false and `privileged` to true',
      'C.securityContext.allowPrivilegeEscalation: Invalid value: false: cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN',
    ],
    [
      'securityContext: {appArmorProfile: {type: Localhost}}',
      'C.securityContext.appArmorProfile.localhostProfile: Required value: must be set when AppArmor type is Localhost',
    ],
    [
      'securityContext: {windowsOptions: {runAsUserName: ""}}',
      `C.securityContext.windowsOptions.runAsUserName: Invalid value: "": runAsUserName cannot be an empty string`,
    ],
  ]);
});
