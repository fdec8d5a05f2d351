import {describe, expect, test} from 'vitest';
import {formatKubeletUnit, formatSyncUnit} from '../../../src/features/kubelet/systemd/systemd-unit.js';

test('a unit runs the kubelet with the same options, escaped for systemd', () => {
  const unit = formatKubeletUnit('kcri', {
    program: ['/usr/bin/node', '/opt/kcri/bin/kcri.js'],
    argv: ['--config', '/etc/my kubelet.yaml', '--node-labels=a=100%', '--print-unit', '--cluster-domain=$x'],
    directory: '/srv',
    env: {HOME: '/root', KCRI_ROOT_DIR: '/my root/100%', IMAGE_SERVICE_ENDPOINT: ''},
  });
  expect(unit).toContain(
    'ExecStart=/usr/bin/node /opt/kcri/bin/kcri.js kubelet --config "/etc/my kubelet.yaml" --node-labels=a=100%% --cluster-domain=$$x\n',
  );
  expect(unit).toContain('WorkingDirectory=/srv\n');
  expect(unit.match(/^Environment=.*$/gm)).toEqual(['Environment="KCRI_ROOT_DIR=/my root/100%%"']);
  expect(unit).toContain('KillMode=process\n');
});

describe("in kubeadm's form", () => {
  const options = {
    program: ['/usr/bin/kcri'],
    argv: ['--print-unit=kubeadm', '--v=2'],
    directory: '/',
    env: {},
  };
  const service = [
    'Type=notify',
    'WatchdogSec=60',
    'Environment=KCRI_COMPAT=kubelet',
    'Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf"',
    'Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"',
    'EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env',
    'EnvironmentFile=-/etc/default/kubelet',
    'EnvironmentFile=-/etc/sysconfig/kubelet',
    'ExecStart=/usr/bin/kcri --v=2 $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS',
  ];

  test.each([
    ['kubeadm', ['[Unit]', '[Service]', '[Install]'], []],
    ['kubeadm-drop-in', ['[Service]'], ['ExecStart=']],
  ])("--print-unit=%s reads kubeadm's files under the name kubelet", (form, sections, before) => {
    const lines = formatKubeletUnit(form, options).split('\n');
    expect(lines.filter((line) => line.startsWith('['))).toEqual(sections);
    expect(lines).toEqual(expect.arrayContaining(service));
    expect(lines.filter((line) => line.startsWith('ExecStart='))).toEqual([...before, service.at(-1)]);
  });

  test('another form is an error', () => {
    expect(() => formatKubeletUnit('x', options)).toThrow('must be one of kcri, kubeadm, kubeadm-drop-in');
  });
});

test.each([
  [['web.yaml', '--print-unit'], 'web.yaml --wait=complete --timeout=87600h'],
  [['-f', 'my pods/', '--wait', 'ready', '--timeout=1h'], '-f "my pods/" --wait ready --timeout=1h'],
])('a unit runs a sync until its pods have completed: %j', (argv, words) => {
  const unit = formatSyncUnit({
    program: ['/usr/bin/kcri'],
    argv,
    directory: '/srv',
    env: {KCRI_ROOT_DIR: '/r'},
  });
  expect(unit).toContain(`ExecStart=/usr/bin/kcri sync ${words}\n`);
  expect(unit).toContain('WorkingDirectory=/srv\nEnvironment=KCRI_ROOT_DIR=/r\n');
  expect(unit).toContain('Type=exec\n');
  expect(unit).toContain('Restart=on-failure\n');
  expect(unit).toContain('KillMode=process\n');
});
