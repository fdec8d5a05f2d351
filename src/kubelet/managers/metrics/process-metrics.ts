import {readdir, readFile} from 'node:fs/promises';
import {performance} from 'node:perf_hooks';
import {nextIteration} from '../../../base/async/next-iteration.js';
import type {MetricFamily} from './exposition.js';

/** Returns the standard metrics of the process (process_*) and of its event loop (nodejs_*). */
export async function collectProcessMetrics(): Promise<readonly MetricFamily[]> {
  const lag = await eventLoopLag();
  const {user, system} = process.cpuUsage();
  const memory = process.memoryUsage();
  const [openFds, maxFds, virtualBytes] = await Promise.all([
    countOpenFds(),
    readMaxFds(),
    readVirtualBytes(),
  ]);
  return [
    counter(
      'process_cpu_seconds_total',
      'Total user and system CPU time spent in seconds.',
      (user + system) / 1e6,
    ),
    gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', memory.rss),
    gauge('process_virtual_memory_bytes', 'Virtual memory size in bytes.', virtualBytes),
    gauge('process_open_fds', 'Number of open file descriptors.', openFds),
    gauge('process_max_fds', 'Maximum number of open file descriptors.', maxFds),
    processStartTime(),
    gauge('nodejs_eventloop_lag_seconds', 'Lag of event loop in seconds.', lag),
    gauge(
      'nodejs_eventloop_utilization',
      'Share of time that the event loop was busy since the process began.',
      performance.eventLoopUtilization().utilization,
    ),
    gauge('nodejs_heap_size_total_bytes', 'Process heap size from Node.js in bytes.', memory.heapTotal),
    gauge('nodejs_heap_size_used_bytes', 'Process heap size used from Node.js in bytes.', memory.heapUsed),
    gauge('nodejs_external_memory_bytes', 'Node.js external memory size in bytes.', memory.external),
  ];
}

/** Returns process_start_time_seconds, which is also part of /metrics/probes. */
export function processStartTime(): MetricFamily {
  return gauge(
    'process_start_time_seconds',
    'Start time of the process since unix epoch in seconds.',
    performance.timeOrigin / 1000,
  );
}

function counter(name: string, help: string, value: number): MetricFamily {
  return {name, help, type: 'counter', samples: [{labels: {}, value}]};
}

function gauge(name: string, help: string, value: number | undefined): MetricFamily {
  return {name, help, type: 'gauge', samples: value === undefined ? [] : [{labels: {}, value}]};
}

/** Resolves with the current delay of the event loop. */
async function eventLoopLag(): Promise<number> {
  const startedAt = performance.now();
  await nextIteration();
  return (performance.now() - startedAt) / 1000;
}

async function countOpenFds(): Promise<number> {
  return (await readdir('/proc/self/fd')).length;
}

async function readMaxFds(): Promise<number | undefined> {
  const text = await readFile('/proc/self/limits', 'utf8');
  const limit = /^Max open files +(\d+|unlimited)/m.exec(text)?.[1];
  return limit === 'unlimited' ? Infinity : limit === undefined ? undefined : Number(limit);
}

async function readVirtualBytes(): Promise<number | undefined> {
  const kibibytes = /^VmSize:\s+(\d+) kB/m.exec(await readFile('/proc/self/status', 'utf8'))?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
}
