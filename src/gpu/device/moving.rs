//! Numbers to the device and back, outside of batches.

use super::Device;
use crate::error::{Result, Trouble};

/// Bytes that are sent at once.
pub(super) const SENT: usize = 32 << 20;

impl Device {
    /// Writes `bytes` to `buffer` from byte `at` on, in pieces whose passing memory is given back one by one.
    pub(super) fn send(&self, buffer: &wgpu::Buffer, at: u64, bytes: &[u8]) {
        for (k, piece) in bytes.chunks(SENT).enumerate() {
            self.queue.write_buffer(buffer, at + (k * SENT) as u64, piece);
            if piece.len() == SENT {
                self.queue.submit([]);
                // Whatever went wrong is reported to whoever guards this.
                let _ = self.device.poll(wgpu::PollType::wait_indefinitely());
            }
        }
    }

    /// The first `count` numbers of `buffer`.
    pub(super) fn read(&self, buffer: &wgpu::Buffer, count: usize) -> Result<Vec<f32>> {
        let bytes = 4 * count as u64;
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let (sender, mapped) = std::sync::mpsc::channel();
        let (copy, submission) = self.guarded("hand back numbers", || {
            let copy = self.buffer("numbers", bytes, usage);
            let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            if bytes > 0 {
                encoder.copy_buffer_to_buffer(buffer, 0, &copy, 0, bytes);
            }
            let submission = self.queue.submit([encoder.finish()]);
            copy.map_async(wgpu::MapMode::Read, .., move |result| {
                // Nobody to tell is nobody who waits.
                let _ = sender.send(result.is_ok());
            });
            (copy, submission)
        })?;
        self.wait(&submission)?;
        let lost = || self.error(Trouble::Lost, "hand back numbers", "their memory cannot be read");
        if mapped.try_recv() != Ok(true) {
            return Err(lost());
        }
        let view = copy.get_mapped_range(..).map_err(|_| lost())?;
        Ok(bytemuck::cast_slice::<u8, f32>(&view)[..count].to_vec())
    }
}
