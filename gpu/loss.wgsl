// The losses: φ(z, b) and φ′(z, b), by the constant LOSS. Twin: src/gpu/twin/loss.rs.

fn slack(z: f32, b: f32) -> f32 {
    let s = 1.0 - b * z;
    return select(s, 0.0, s <= 0.0);
}

fn loss_value(z: f32, b: f32) -> f32 {
    switch LOSS {
        case 0u: { // logistic
            let m = b * z;
            let tail = exp(-abs(m));
            // What 1 + tail loses of a small tail is added again: log(v + e) = log v + e/v.
            let v = 1.0 + tail;
            return select(0.0, -m, m < 0.0) + (log(v) + (tail - (v - 1.0)) / v);
        }
        case 1u: { // squared
            return 0.5 * (z - b) * (z - b);
        }
        case 2u: { // hinge
            return slack(z, b);
        }
        case 3u: { // squared hinge
            return slack(z, b) * slack(z, b);
        }
        default: { // Huber
            let r = abs(z - b);
            return select(batch.delta * (r - 0.5 * batch.delta), 0.5 * r * r, r <= batch.delta);
        }
    }
}

fn loss_slope(z: f32, b: f32) -> f32 {
    switch LOSS {
        case 0u: {
            let m = b * z;
            let tail = exp(-abs(m));
            return -b * (select(tail, 1.0, m < 0.0) / (1.0 + tail));
        }
        case 1u: {
            return z - b;
        }
        case 2u: {
            return select(0.0, -b, b * z < 1.0);
        }
        case 3u: {
            return -2.0 * b * slack(z, b);
        }
        default: {
            let r = z - b;
            return select(select(r, -batch.delta, r < -batch.delta), batch.delta, r > batch.delta);
        }
    }
}

// wᵢ φ and wᵢ φ′ of a row with label and weight `mark`; nothing of a row past the end of the list.
fn weighted(z: f32, mark: vec2<f32>, here: bool) -> vec2<f32> {
    if here {
        return mark.y * vec2<f32>(loss_value(z, mark.x), loss_slope(z, mark.x));
    }
    return vec2<f32>();
}
