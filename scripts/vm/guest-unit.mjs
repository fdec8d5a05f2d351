export const GUEST_UNIT_NAME = 'kcri-tests.service';

/** Names by which the virtual machine finds its disks. */
export const CHECKOUT_DISK = 'checkout';
export const RESULTS_DISK = 'results';

/**
 * The unit of the virtual machine that unpacks the checkout, an archive on a disk without a file system, and runs the tests with
 * their output on the second serial port. The machine is powered off at the end, whatever the result.
 */
export const GUEST_UNIT = `[Unit]
Description=Tests of kcri
After=dbus.service
Wants=dbus.service
SuccessAction=poweroff-force
FailureAction=poweroff-force

[Service]
Type=oneshot
ExecStart=/bin/tar -xf /dev/disk/by-id/virtio-${CHECKOUT_DISK} -C /kcri
ExecStart=/bin/sh /kcri/scripts/vm/guest.sh
WorkingDirectory=/kcri
Environment=HOME=/root
StandardOutput=file:/dev/ttyS1
StandardError=inherit
TimeoutStartSec=infinity
Delegate=yes
KillMode=mixed

[Install]
WantedBy=multi-user.target
`;
