"""Attention of eight heads: full, causal, and under masks (from an input, by segments, of a window, of a prefix)."""
from peers.row import Group, Part, Row

INPUTS = "use attention\ninput Q[h:H,s:S,d:D], K[h:H,t:S,d:D], V[h:H,t:S,e:D] : f32\n"


def torch_attention(causal):
    def f(torch, Q, K, V):
        return torch.nn.functional.scaled_dot_product_attention(Q[None], K[None], V[None], is_causal=causal)[0]
    return f


def jax_attention(causal):
    def f(jnp, Q, K, V):
        import jax
        q, k, v = (x.transpose(1, 0, 2) for x in (Q, K, V))  # it wants places before heads
        return jax.nn.dot_product_attention(q, k, v, is_causal=causal).transpose(1, 0, 2)
    return f


def attention(s, causal):
    call = "causal[s,t,d]" if causal else "attention[t,d]"
    return Row(f"{'causal' if causal else 'full'}_{s}",
               INPUTS + f"output O[h,s,e] = {call}(Q[h,s,d], K[h,t,d], V[h,t,e], 1 / sqrt(D))\n", {"H": 8, "S": s, "D": 64},
               {"torch": torch_attention(causal), "jax": jax_attention(causal)}, {"H": 2, "S": 21, "D": 8},
               "2 * H * S * (S + 1) * D" if causal else "4 * H * S * S * D")


def masked(name, where, mask, inputs="", flops="4 * H * S * S * D", **row):
    """Attention under a predicate. mask(torch, places, more inputs) makes the same mask for PyTorch, before the
    timing."""
    def torch_masked(torch, Q, K, V, *more):
        allowed = mask(torch, torch.arange(Q.shape[1], device=Q.device), *more)
        return lambda: torch.nn.functional.scaled_dot_product_attention(Q[None], K[None], V[None], attn_mask=allowed)[0]

    return Row(name, INPUTS + inputs + f"output O[h,s,e] = attention[t, d where {where}](Q[h,s,d], K[h,t,d], V[h,t,e], 1 / sqrt(D))\n",
               {"H": 8, "S": 1024, "D": 64}, {"torch": torch_masked}, {"H": 2, "S": 41, "D": 16}, flops, **row)


MASKED = [
    masked("masked", "M[s,t]", lambda torch, at, M: M, "input M[s:S,t:S] : bool\n"),
    masked("segments", "seg[s] == seg[t]", lambda torch, at, seg: seg[:, None] == seg[None, :], "input seg[s:S] : i64\n", below={"seg": "8"}),
    masked("window", "t <= s and s < t + 128", lambda torch, at: (at[None, :] <= at[:, None]) & (at[:, None] < at[None, :] + 128),
           flops="4 * H * S * 128 * D"),
    masked("prefix", "t <= s or t < 256", lambda torch, at: (at[None, :] <= at[:, None]) | (at[None, :] < 256), flops="2 * H * S * (S + 256) * D")]

GROUP = Group("attention", [Part("attention", 1.0, [
    attention(s, causal) for causal in (False, True) for s in (512, 1024, 2048, 4096)], ("torch",)), Part("masks", None, MASKED, ("torch",))])
