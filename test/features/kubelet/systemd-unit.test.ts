import {expect, test} from 'vitest';
import {formatSyncUnit, formatSystemdUnit} from '../../../src/features/kubelet/systemd-unit.js';

test('a unit runs the kubelet with the same options, escaped for systemd', () => {
  const unit = formatSystemdUnit({
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
