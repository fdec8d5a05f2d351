# Sends the bytes of standard input through the socket 3 with the write end of a pipe, as logind sends an inhibitor; prints
# "sent", and "released" when nobody has the write end any more. Node.js cannot send descriptors; every Debian has perl.
use strict;
use warnings;
use POSIX qw(uname);

my %sendmsg = (x86_64 => 46, aarch64 => 211);
pipe(my $lock, my $inhibitor) or die "pipe: $!";
binmode STDIN;
my $bytes = do { local $/; <STDIN> };
my $vector = pack('P Q', $bytes, length $bytes);
# SOL_SOCKET, SCM_RIGHTS
my $control = pack('Q l l l x4', 20, 1, 1, fileno $inhibitor);
my $message = pack('Q Q P Q P Q Q', 0, 0, $vector, 1, $control, length $control, 0);
my $sent = syscall($sendmsg{(uname)[4]}, 3, $message, 0);
die "sendmsg: $!" if $sent != length $bytes;
close $inhibitor;
$| = 1;
print "sent\n";
sysread $lock, my $nothing, 1;
print "released\n";
