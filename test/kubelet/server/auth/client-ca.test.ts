import {rm, writeFile} from 'node:fs/promises';
import {Agent, request} from 'node:https';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import type {CertificatePair} from '../../../../src/format/x509/x509-parts.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {until} from '../../../base/until.js';
import {FakeClock} from '../../../fakes/fake-clock.js';
import {startServerTestbed, type ServerTestbed} from '../server-testbed.js';
import {createClientCertificate} from './client-certificate.js';

const alice = createClientCertificate('alice', 'admins');
const bob = createClientCertificate('bob', 'admins');

/** A server that trusts the clients in a file, and a clock that makes it read the file again. */
async function start(trusted: CertificatePair) {
  const file = join(await temporaryDirectory(), 'ca.crt');
  await writeFile(file, trusted.certificate);
  const clock = new FakeClock({nowMs: Date.now()});
  const testbed = await startServerTestbed({
    access: {anonymous: false, clientCaFile: file},
    options: {clock},
  });
  return {...testbed, file, clock};
}

const statusFor = async ({request: send}: ServerTestbed, client: CertificatePair): Promise<number> =>
  (await send('/pods', {client})).status;

test('a changed bundle of authorities is used without a restart', async () => {
  const testbed = await start(alice);
  expect([await statusFor(testbed, alice), await statusFor(testbed, bob)]).toEqual([200, 401]);
  await writeFile(testbed.file, bob.certificate);
  await until(async () => {
    await testbed.clock.advance(5000);
    // The connection may be closed, since the certificate may have been verified with the old authority.
    return (await statusFor(testbed, bob).catch(() => 'closed')) === 200;
  });
  expect(await statusFor(testbed, alice)).toBe(401);
});

test('a client whose authority was removed cannot go on with its connection', async () => {
  const testbed = await start(alice);
  const agent = new Agent({keepAlive: true, maxSockets: 1, cert: alice.certificate, key: alice.key});
  onTestFinished(() => {
    agent.destroy();
  });
  const get = async (): Promise<number | undefined> =>
    await new Promise((resolve, reject) => {
      const sent = request(
        `${testbed.servers.urls.main}/pods`,
        {agent, rejectUnauthorized: false},
        (response) => {
          response.resume().once('end', () => {
            resolve(response.statusCode);
          });
        },
      );
      sent.once('error', reject).end();
    });
  expect(await get()).toBe(200);
  await writeFile(testbed.file, bob.certificate);
  await until(async () => {
    await testbed.clock.advance(5000);
    return (await get().catch(() => 'closed')) === 401;
  });
});

test.each([
  ['is not PEM', 'x'],
  ['has an invalid certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'],
  ['is missing', undefined],
])('a bundle that %s leaves the last one in use', async (_title, text) => {
  const testbed = await start(alice);
  if (text === undefined) await rm(testbed.file);
  else await writeFile(testbed.file, text);
  for (let count = 0; count < 3; count += 1) await testbed.clock.advance(5000);
  expect(await statusFor(testbed, alice)).toBe(200);
});

test('a server does not start with a bundle without certificates', async () => {
  const file = join(await temporaryDirectory(), 'ca.crt');
  await writeFile(file, '');
  await expect(startServerTestbed({access: {clientCaFile: file}})).rejects.toThrow('it has no certificate');
});
