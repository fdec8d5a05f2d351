import {expect, test} from 'vitest';
import {formatSystemdUnit} from '../../../src/cli/kubelet/systemd-unit.js';

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
